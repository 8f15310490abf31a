/**
 * A translatable message: a code with its parameters. `Codes` maps each code to its parameters:
 * `{ 'no-group': { id: string }, 'nothing-found': {} }`.
 */
export type Coded<Codes, Code extends keyof Codes = keyof Codes> = {
  [C in Code]: { code: C } & Codes[C];
}[Code];

/** One language: a text for each code. */
export type TextsOf<Codes> = { readonly [Code in keyof Codes]: (value: Codes[Code]) => string };

export function formatMessage<Codes, Code extends keyof Codes>(
  texts: TextsOf<Codes>,
  value: Coded<Codes, Code>,
): string {
  return texts[value.code](value);
}
