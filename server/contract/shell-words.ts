/** Values as words of a shell's command line, whoever chose them: a model's name comes from a provider's list. */

export const shells = ['sh', 'fish', 'powershell', 'cmd'] as const;
export type Shell = (typeof shells)[number];

/** The value in quotes, for the right side of an assignment. Null if the shell has no safe way to write it. */
export function quoted(value: string, shell: Shell): string | null {
  return quote[shell](value);
}

/** For snippets that people read before they paste them into sh, bash or zsh: quoted only if it has to be. */
export function shellWord(value: string): string {
  return /^[\w./:@%+,-]+$/.test(value) ? value : quoteForSh(value);
}

const quote: Record<Shell, (value: string) => string | null> = {
  sh: quoteForSh,
  fish: (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`,
  powershell: quoteForPowerShell,
  cmd: quoteForCmd,
};

function quoteForSh(value: string): string {
  return `'${value.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * PowerShell also ends a text at U+2018, U+2019, U+201A and U+201B, and reads a program's output in the console's code page,
 * in which a byte of another character may be one of them (0x91 to 0x93 in Windows-1252). So all but ASCII is written as codes.
 */
function quoteForPowerShell(value: string): string {
  const pieces = value.match(/[\0-\x7f]+|[^\0-\x7f]/g) ?? [];
  const words = pieces.map((piece) => {
    const code = piece.charCodeAt(0);
    return code < 0x80 ? `'${piece.replaceAll("'", "''")}'` : `[char]0x${code.toString(16).toUpperCase()}`;
  });
  // A text must come first, so that the codes are joined to it and not added up.
  const [first = "''"] = words;
  return (first.startsWith("'") ? words : ["''", ...words]).join(' + ') || first;
}

/**
 * Within the quotes of `set "NAME=VALUE"`, `&`, `|`, `<`, `>` and `^` are plain. A quotation mark would end them, `%` begins
 * a variable on the prompt and in batch files alike, though it is escaped differently, and other characters than ASCII depend
 * on the code page.
 */
function quoteForCmd(value: string): string | null {
  return /^[ !#$&-~]*$/.test(value) ? value : null;
}
