import { type ConfigFormat, ConfigSyntaxError } from './config-format.ts';

const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=(.*)$/;

/** A file of environment variables, one per line. Values that span several lines are not supported. */
export const dotenvFormat: ConfigFormat = {
  parse(text) {
    const variables: Record<string, string> = {};
    text.split('\n').forEach((line, index) => {
      if (line.trim() === '' || line.trim().startsWith('#')) return;
      const [, name, value = ''] = assignment.exec(line.trim()) ?? [];
      if (name === undefined || isOpen(value.trim())) throw new ConfigSyntaxError(index + 1);
      variables[name] = value.trim();
    });
    return variables;
  },
  rewrite(text, settings) {
    const before = this.parse(text);
    const keptLines = text.split('\n').flatMap((line) => {
      const name = line.trim().startsWith('#') ? undefined : assignment.exec(line.trim())?.[1];
      if (name === undefined || settings[name] === before[name]) return [line];
      return settings[name] === undefined ? [] : [`${name}=${settings[name]}`];
    });
    const added = Object.keys(settings).filter((name) => !(name in before));
    const lines = keptLines.at(-1) === '' ? keptLines.slice(0, -1) : keptLines;
    return `${[...lines, ...added.map((name) => `${name}=${settings[name]}`)].join('\n')}\n`;
  },
};

/** Whether a quote is not closed on its line. */
function isOpen(value: string): boolean {
  const [quote] = value;
  if (quote !== '"' && quote !== "'") return false;
  return value.indexOf(quote, 1) === -1;
}
