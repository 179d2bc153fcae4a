import { useEffect, useRef, useState, type ReactNode } from "react";
import { Input } from "./input.tsx";

type FindProps = { label: string; placeholder: string; value: string; onChange: (text: string) => void };

/** Reports the typed text when the user pauses. As wide as what it is in. */
export function FindInput({ label, placeholder, value, onChange }: FindProps): ReactNode {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // Only a value changed elsewhere, such as by the Back button, replaces the typed text.
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = typed;
      onChange(typed);
    }, 250);
    return () => clearTimeout(timer);
  });
  return (
    <Input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}
