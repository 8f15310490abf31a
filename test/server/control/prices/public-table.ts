/** The public tables as they would be today, with some values changed. */
import { litellmServices } from '../../../../server/control/prices/litellm-table.ts';
import { pricesOfServices } from '../../../../server/models/price-table.ts';

const fields: Readonly<Record<string, string>> = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cachedInput: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  cacheWriteOneHour: 'cache_creation_input_token_cost_above_1hr',
};
const openAi = { input: 2, output: 8 };

/** In LiteLLM's form: the shipped prices that are of tokens alone. `changed`: amounts by a model of OpenAI. */
export function publicTable(changed: Readonly<Record<string, Record<string, number>>> = {}): string {
  const table: Record<string, object> = { sample_spec: { note: 'what an entry looks like' } };
  for (const { preset, providers, prefix, isMaker } of litellmServices) {
    for (const [entry, amounts] of pricesOfServices(preset)) {
      const isOfTokens = Object.keys(amounts).every((name) => name in fields || name === 'maxOutput');
      if (isOfTokens)
        table[prefix + (isMaker || !entry.startsWith(`${preset}/`) ? entry : entry.slice(preset.length + 1))] = entryOf(
          providers[0],
          amounts,
        );
    }
  }
  for (const [model, amounts] of Object.entries(changed)) {
    const known = pricesOfServices('openai').find(([entry]) => entry === model)?.[1] ?? openAi;
    table[model] = { ...table[model], ...entryOf('openai', { ...known, ...amounts }) };
  }
  return JSON.stringify(table);
}

function entryOf(provider: string | undefined, amounts: Readonly<Record<string, number>>): object {
  const costs = Object.entries(amounts).flatMap(([name, amount]) =>
    fields[name] ? [[fields[name], amount / 1e6]] : [],
  );
  return { litellm_provider: provider, mode: 'chat', ...Object.fromEntries(costs) };
}

/** In the form of the European Central Bank. */
export function ratesOf(day: string, perEuro: Readonly<Record<string, number>>): string {
  const rates = Object.entries(perEuro).map(([code, rate]) => `<Cube currency='${code}' rate='${rate}'/>`);
  return `<?xml version="1.0"?><gesmes:Envelope><Cube><Cube time='${day}'>${rates.join('')}</Cube></Cube></gesmes:Envelope>`;
}
