/**
 * What the engine says as a value, by a code and what belongs to it, so that each face can say it in its own language.
 * `Codes` is the table of the codes: `{ 'no-group': { id: string }, 'nothing-found': {} }`.
 */
export type Coded<Codes, Code extends keyof Codes = keyof Codes> = {
  [C in Code]: { code: C } & Codes[C];
}[Code];

/** A text for each code. */
export type TextsOf<Codes> = { readonly [Code in keyof Codes]: (said: Codes[Code]) => string };

export function say<Codes, Code extends keyof Codes>(texts: TextsOf<Codes>, said: Coded<Codes, Code>): string {
  return texts[said.code](said);
}
