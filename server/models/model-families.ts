/** Finds a model's family in a table of facts. */
import { canonicalName, foldName, identify } from '../contract/model-identity.ts';

/**
 * Finds the facts of the longest family with whose words a model begins. `claude-opus-4` is not the family of
 * `claude-opus-4-9`, but `gpt-oss` is that of `gpt-oss-120b`.
 *
 * @param table by names of families, without place: `gemini-2.5`, `llama3-8b`
 */
export function createFamilies<Facts>(table: Readonly<Record<string, Facts>>): (model: string) => Facts | undefined {
  const families = new Map(Object.entries(table).map(([name, facts]) => [canonicalName(foldName(name)), facts]));
  return (model) => {
    let name = identify(model).model;
    let next = '';
    while (name !== '') {
      const facts = families.get(name);
      if (facts !== undefined && !(isNumber(name.slice(-1)) && isVersion(next))) return facts;
      const end = Math.max(0, name.lastIndexOf('-'));
      next = name.slice(end + 1);
      name = name.slice(0, end);
    }
    return undefined;
  };
}

const isNumber = (word: string) => /^\d+$/.test(word);

/** One or two digits indicate another model; more are a date, and `32b` is a size. */
const isVersion = (word: string) => word.length <= 2 && isNumber(word);
