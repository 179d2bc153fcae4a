import { testRefused } from "../support/refused.ts";

testRefused({ status: 429, code: "rate_limited", says: ["Too many requests", "Try again in 7 s."] });
