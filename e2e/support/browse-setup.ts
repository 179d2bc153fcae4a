import { afterEach } from "vitest";
import { endTest } from "./browse.ts";

afterEach(endTest);
