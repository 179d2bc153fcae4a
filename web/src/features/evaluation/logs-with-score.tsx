import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Term } from "../../query-bar/query.ts";
import { printQuery } from "../../query-bar/print-query.ts";
import { hasScore } from "./score-terms.ts";

type LinkProps = {
  slug: string;
  /** Restricts the scores; absent means any score. */
  terms?: readonly Term[];
  children: ReactNode;
};

/** A link to the logs that an evaluator scored, lowest scores first. */
export function LogsWithScore({ slug, terms, children }: LinkProps): ReactNode {
  return (
    <Link
      to="/logs"
      search={{
        q: printQuery(terms ?? [hasScore(slug)]),
        cols: `${columns},score.${slug},output`,
        sort: `scores__${slug}`,
      }}
      className="text-sm text-accent hover:underline"
    >
      {children}
    </Link>
  );
}

const columns = "timestamp,span_name,model";
