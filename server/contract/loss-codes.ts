/**
 * Reasons why a translation dropped or changed part of a request or response. The codes are stable: they appear in
 * headers, the ledger and exports. The texts are shown to people.
 */
export const lossCodes = {
  'unknown-field': 'not part of the API as Sluice knows it',
  'no-equal': 'the API of the provider has nothing like it',
  'model-takes-none': 'the model does not take it',
  'out-of-range': 'changed to the nearest value that the model takes',
  'provider-tool': 'a tool that only the provider of the API runs',
  'provider-item': 'an item that only the provider of the API reads',
  'foreign-file': 'a file that was uploaded to another provider',
  media: 'the provider takes no such media',
  'moved-media': 'media of a tool result, moved into a message after the results',
  'foreign-reasoning': 'reasoning that another provider, model or account has sealed',
  'unsealed-reasoning': 'reasoning without its signature',
  'reasoning-off': 'reasoning is switched off for this request',
  'as-text': 'written as text',
  'as-function': 'a custom tool, offered as a function with one text',
  'in-prompt': 'asked for in the system prompt',
  'as-tool': 'asked for by a tool that the model has to call',
  'missing-result': 'a call without result, answered as cancelled',
  'stray-result': 'a result of no known call, written as text',
  'added-turn': 'a turn added where the API wants one',
  'merged-turn': 'joined with the turn before it',
  'empty-text': 'an empty text, which the API refuses',
  renamed: 'a name or id that the API refuses, replaced',
  'schema-keyword': 'keywords of a schema that the API refuses, told in its description',
  sealed: 'reasoning in an envelope, which comes back with the conversation',
};

export type LossCode = keyof typeof lossCodes;

/** Losses of one request that share a code and a field. */
export interface LossNote {
  code: LossCode;
  /** In the client's notation, with `[]` for every index, such as `messages[].content[].cache_control`. */
  field: string;
  times: number;
}
