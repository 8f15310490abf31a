/**
 * Reasons why a translation dropped or changed part of a request or response. The codes are stable: they appear in
 * headers, the ledger and exports. The texts are for people.
 */
export const lossCodes = {
  'unknown-field': 'not a field of the API known to Sluice',
  'no-equal': "the provider's API has no equivalent",
  'model-takes-none': 'the model does not support it',
  'out-of-range': 'changed to the nearest value that the model accepts',
  'provider-tool': "a tool that only the API's own provider can run",
  'provider-item': "an item that only the API's own provider can read",
  'foreign-file': 'a file that is stored at another provider',
  media: 'the provider does not accept this type of media',
  'moved-media': 'media of a tool result, moved into a message after the results',
  'foreign-reasoning': 'reasoning sealed by another provider, model or account',
  'unsealed-reasoning': 'reasoning without its signature',
  'reasoning-off': 'reasoning is switched off for this request',
  'as-text': 'written as text',
  'as-function': 'a tool of a kind that the API does not have, offered as a function',
  'in-prompt': 'requested in the system prompt',
  'as-tool': 'requested through a tool that the model has to call',
  'missing-result': 'a call without a result, which is reported as cancelled',
  'stray-result': 'a result without a matching call, written as text',
  'added-turn': 'a turn added because the API requires it',
  prefill: 'the beginning of the answer, after which the provider may start over',
  'merged-turn': 'merged with the previous turn',
  'empty-text': 'empty text, which the API rejects',
  renamed: 'a name or id that the API rejects, replaced',
  'schema-keyword': 'schema keywords that the API rejects, rewritten as it accepts them',
  'unkept-thread': 'the provider stores no threads: the next request has to contain the whole conversation',
  'provider-refuses': 'the provider refuses it in its own version of the API',
  sealed: 'reasoning in an envelope that the client returns with the conversation',
};

export type LossCode = keyof typeof lossCodes;

/** Losses of one request that share a code and a field. */
export interface LossNote {
  code: LossCode;
  /** In the client's notation, with `[]` for every index, such as `messages[].content[].cache_control`. */
  field: string;
  times: number;
}
