import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TraceHeader } from "../model/trace-model.ts";
import { Figure } from "./figures.tsx";
import { truncateLine, Untrusted } from "./untrusted.tsx";

const linkClass = "text-accent hover:underline";

/** The customer and the thread of a trace. */
export function People({ header }: { header: TraceHeader }): ReactNode {
  const { customer_identifier: customer, thread_identifier: thread } = header;
  return (
    <>
      {customer && (
        <Figure label="Customer" title={truncateLine(customer)}>
          <Link to="/customers/$customerId" params={{ customerId: customer }} className={linkClass}>
            <Untrusted text={customer} />
          </Link>
        </Figure>
      )}
      {thread && (
        <Figure label="Thread" title={truncateLine(thread)}>
          <Link to="/threads" search={{ thread }} className={linkClass}>
            <Untrusted text={thread} />
          </Link>
        </Figure>
      )}
    </>
  );
}
