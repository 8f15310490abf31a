import type { Usage } from '../../../../server/contract/ledger.ts';

/** Shown even if they are 0. Providers report zeros of all other kinds with every answer. */
const always: ReadonlySet<keyof Usage> = new Set(['inputTokens', 'cachedInputTokens', 'outputTokens']);

/** What was used, in the order of `names`. */
export function usageAmounts(
  usage: Usage | null,
  names: Readonly<Record<keyof Usage, string>>,
): { name: string; amount: number }[] {
  return (Object.keys(names) as (keyof Usage)[]).flatMap((kind) => {
    const amount = usage?.[kind];
    return amount === undefined || (amount === 0 && !always.has(kind)) ? [] : [{ name: names[kind], amount }];
  });
}
