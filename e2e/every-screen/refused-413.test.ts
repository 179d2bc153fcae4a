import { testRefused } from "../support/refused.ts";

testRefused({ status: 413, code: "too_large", says: ["This is too large"] });
