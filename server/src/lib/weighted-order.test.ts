import fc from "fast-check";
import { expect, test } from "vitest";
import { weightedOrder } from "./weighted-order.ts";

const byWeight = (item: { weight: number }) => item.weight;
const point = () => fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("every item is drawn once, whatever the weights and the draws", () => {
  const weights = fc.array(fc.double({ min: 1e-300, max: 1e300, noNaN: true }), { maxLength: 20 });
  fc.assert(
    fc.property(weights, fc.array(point(), { minLength: 20, maxLength: 20 }), (list, draws) => {
      const items = list.map((weight, id) => ({ id, weight }));
      const order = weightedOrder(items, byWeight, () => draws.pop() ?? 0);
      expect(order.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(items.map(({ id }) => id));
    }),
  );
});

test.each([
  [[0, 0], "abc"],
  [[0.24, 0], "abc"],
  [[0.25, 0], "bac"],
  [[0.74, 0.6], "bca"],
  [[0.75, 0.99], "cba"],
  [[0.999, 0.3], "cab"],
])("with weights 1, 2 and 1, the draws %j give %s", (draws, order) => {
  const items = [
    { name: "a", weight: 1 },
    { name: "b", weight: 2 },
    { name: "c", weight: 1 },
  ];
  const left = [...draws];
  const drawn = weightedOrder(items, byWeight, () => left.shift() ?? 0);
  expect(drawn.map(({ name }) => name).join("")).toBe(order);
});
