import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes } from "react";
import { cx } from "./cx.ts";

const classes =
  "w-full min-w-0 rounded-md border border-line-strong bg-panel px-2 placeholder:text-faint hover:border-faint " +
  "disabled:bg-raised disabled:text-muted aria-invalid:border-error";

type InputProps = InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> | undefined };

export function Input({ className, ...rest }: InputProps): ReactNode {
  return <input autoComplete="off" spellCheck={false} {...rest} className={cx(classes, "h-7", className)} />;
}

type TextAreaProps = TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> | undefined };

export function TextArea({ className, ...rest }: TextAreaProps): ReactNode {
  return <textarea rows={3} {...rest} className={cx(classes, "py-1", className)} />;
}

export type FieldControl = {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
};

/** A label, one control, and its error. The control gets the props that link it to both. */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | readonly string[] | undefined;
  className?: string;
  children: (control: FieldControl) => ReactNode;
}): ReactNode {
  const id = useId();
  const problems = [error ?? []].flat();
  const describedBy = [problems.length > 0 && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean);
  return (
    <div className={cx("flex flex-col gap-1", className)}>
      <label htmlFor={id} className="text-sm font-medium text-muted">
        {label}
      </label>
      {children({
        id,
        "aria-invalid": problems.length > 0 || undefined,
        "aria-describedby": describedBy.join(" ") || undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-faint">
          {hint}
        </p>
      )}
      {problems.length > 0 && (
        <p id={`${id}-error`} role="alert" className="text-xs text-error">
          {problems.join(" ")}
        </p>
      )}
    </div>
  );
}
