import { type ConfigFormat, ConfigSyntaxError } from './merge-settings.ts';

/** `lead`: with the name; `rest`: a comment, and what ends the line. */
interface Assignment {
  lead: string;
  name: string;
  value: string;
  rest: string;
}

const lead = /^(\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=[ \t]*)/;
/** A value in quotes, or up to a comment. */
const quotedText = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|`[^`]*`)/;
const bareText = /^(?:(?!\s#)[^\r\n])*/;

/** A file of environment variables, one per line. Values that span several lines are not supported. */
export const dotenvFormat: ConfigFormat = {
  parse(text) {
    const variables: Record<string, string> = {};
    text.split('\n').forEach((line, index) => {
      if (isEmpty(line)) return;
      const assignment = assignmentIn(line);
      if (assignment === null) throw new ConfigSyntaxError(index + 1);
      variables[assignment.name] = assignment.value;
    });
    return variables;
  },
  rewrite(text, settings) {
    const before = this.parse(text);
    const keptLines = text.split('\n').flatMap((line) => {
      const assignment = isEmpty(line) ? null : assignmentIn(line);
      if (assignment === null || settings[assignment.name] === before[assignment.name]) return [line];
      const { [assignment.name]: value } = settings;
      return value === undefined ? [] : [`${assignment.lead}${value}${assignment.rest}`];
    });
    const added = Object.keys(settings).filter((name) => !(name in before));
    const lines = keptLines.at(-1) === '' ? keptLines.slice(0, -1) : keptLines;
    return `${[...lines, ...added.map((name) => `${name}=${settings[name]}`)].join('\n')}\n`;
  },
};

function isEmpty(line: string): boolean {
  return line.trim() === '' || line.trim().startsWith('#');
}

/** Null for a line that is none, or whose quote is not closed. */
function assignmentIn(line: string): Assignment | null {
  const [start, , name] = lead.exec(line) ?? [];
  if (start === undefined || name === undefined) return null;
  const text = line.slice(start.length);
  const isQuoted = /^["'`]/.test(text);
  const [value] = (isQuoted ? quotedText : bareText).exec(text.startsWith('#') ? '' : text) ?? [];
  if (value === undefined) return null;
  const trimmed = value.trimEnd();
  return { lead: start, name, value: trimmed, rest: text.slice(trimmed.length) };
}
