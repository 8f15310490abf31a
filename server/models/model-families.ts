/** Finds a model's family in a table of facts. */

/**
 * The longest family name with which `model` begins. `claude-opus-4` is not the family of `claude-opus-4-9`, but `gpt`
 * is that of `gpt-9`.
 */
export function familyOf<Facts>(families: Record<string, Facts>, model: string): Facts | undefined {
  let longest = '';
  for (const name of Object.keys(families)) {
    if (name.length <= longest.length || !model.startsWith(name)) continue;
    if (!endsInDigit(name) || !isVersion(model.slice(name.length))) longest = name;
  }
  return families[longest];
}

function endsInDigit(name: string): boolean {
  const last = name.at(-1) ?? '';
  return last >= '0' && last <= '9';
}

/**
 * One or two digits indicate another model. Eight digits are a date, and digits before a `b` are a size (`qwen3-32b`).
 */
function isVersion(rest: string): boolean {
  const digits = rest.startsWith('-') ? rest.slice(1) : rest;
  const length = [...digits.slice(0, 3)].findIndex((character) => character < '0' || character > '9');
  return length === -1 ? digits.length > 0 && digits.length < 3 : length > 0 && digits[length] !== 'b';
}
