/** `sluice prices`: the price of each model, and what the public table would change of the list prices. */
import type { Command } from 'commander';
import {
  type PriceAmounts,
  type PriceChange,
  type PriceRenewalView,
  priceFieldNames,
} from '../contract/price-views.ts';
import type { Examples } from './help.ts';
import type { Output } from './output.ts';
import { localTime, table } from './shown.ts';
import type { Verbs } from './verb.ts';

export const pricesExamples: Examples = {
  'prices list': ['sluice prices list', 'sluice prices list --json | jq ".models[].price"'],
  'prices check': ['sluice settings set renewPrices ask && sluice prices check', 'sluice prices check --json'],
  'prices apply': ['sluice prices apply', 'sluice prices apply --all'],
};

export function addPricesVerbs(program: Command, { on }: Verbs): void {
  const prices = program.command('prices').description('the prices that costs are calculated with, in US dollars');
  const list = prices
    .command('list', { isDefault: true })
    .description('list the models of your providers with their prices');
  on(list, async ({ control, output }) => {
    const answer = await control.query({ type: 'prices' });
    const rows = answer.models.map(({ provider, model, price }) => [
      model,
      provider,
      price === null ? 'unknown' : describeAmounts(price.amounts),
      price === null ? '' : price.isOwn ? 'yours' : price.isLocal ? 'local' : 'list price',
    ]);
    output.show(answer, table(['model', 'provider', 'price', 'whose'], rows, 'There are no models yet.'));
    noteRenewal(output, answer.renewal);
  });

  const check = prices
    .command('check')
    .description('read the public table now, and show what it changes (needs the setting "renewPrices")');
  on(check, async ({ control, output }) => {
    const { renewal } = await control.execute({ type: 'prices.check' });
    output.show(renewal, changesTable(renewal.waiting));
    noteRenewal(output, renewal);
  });

  const apply = prices
    .command('apply')
    .description('use the new list prices; your own stay in force')
    .option('--all', 'also what falls to 0 or changes more than fivefold');
  on<{ all?: boolean }>(apply, async ({ control, output }, _, { all }) => {
    const result = await control.execute({ type: 'prices.apply', which: all ? 'all' : 'plausible' });
    const { applied, renewal } = result;
    output.show(result, `${applied} ${applied === 1 ? 'price' : 'prices'} applied.`);
    noteRenewal(output, renewal);
  });
}

function changesTable(changes: readonly PriceChange[]) {
  const rows = changes.map(({ entry, before, after, isImplausible }) => [
    entry,
    before === null ? 'none' : describeAmounts(differing(before, after)),
    describeAmounts(differing(after, before ?? {})),
    isImplausible ? 'needs --all' : '',
  ]);
  return table(['model', 'now', 'public table', ''], rows, 'The public table changes nothing.');
}

function noteRenewal(output: Output, { mode, date, checkedAt, failure, waiting }: PriceRenewalView): void {
  const read = checkedAt === null ? 'has not been read yet' : `was last read ${localTime(checkedAt)}`;
  output.note(
    `List prices of ${date}; the public table ${mode === 'off' ? 'is not read (renewPrices is off)' : read}.`,
  );
  if (failure !== null) output.note(`The last attempt failed: ${failure}`);
  const implausible = waiting.filter((each) => each.isImplausible).length;
  if (waiting.length > implausible) output.note(`${waiting.length - implausible} wait for "sluice prices apply".`);
  if (implausible > 0)
    output.note(`${implausible} that fall to 0 or change more than fivefold wait for "sluice prices apply --all".`);
}

function differing(amounts: PriceAmounts, others: PriceAmounts): PriceAmounts {
  return Object.fromEntries(
    Object.entries(amounts).filter(([name, amount]) => others[name as keyof PriceAmounts] !== amount),
  );
}

function describeAmounts(amounts: PriceAmounts): string {
  const named = priceFieldNames.filter((name) => amounts[name] !== undefined && name !== 'maxOutput');
  return named.map((name) => `${name} ${amounts[name]}`).join(', ') || '-';
}
