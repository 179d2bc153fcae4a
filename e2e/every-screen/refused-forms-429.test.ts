import { testRefusedForms } from "../support/refused-forms.ts";

testRefusedForms({ status: 429, code: "rate_limited", says: ["Too many requests", "Try again in 7 s."] });
