/** What errors mean, for every status, form of body, upstream API and client API: the router and the client are told the same. */
import { describe, expect, test } from 'vitest';
import { readError } from '../../../../../server/apis/core/errors/error-body.ts';
import { statusOfError } from '../../../../../server/apis/core/errors/error-names.ts';
import { failureBy, type KnownSize, tellErrorWithin } from '../../../../../server/apis/core/errors/verdict.ts';
import type { WireName } from '../../../../../server/apis/neutral/conversation.ts';
import { wireTranslations } from '../../../../../server/apis/translation/translation-registry.ts';
import { translatedError } from '../../../../../server/apis/translation/translator.ts';
import type { FailureClass } from '../../../../../server/contract/ledger.ts';

/** How services say that a request does not fit into the model's context: who, message, tokens, limit, other members. */

type Numbers = [tokens: number | null, limit: number | null];

interface OverflowError {
  service: string;
  message: string;
  numbers: Numbers;
  error?: object;
}

const of = (service: string, message: string, numbers: Numbers, error: object = {}): OverflowError => ({
  service,
  message,
  numbers,
  error,
});
const both: Numbers = [9001, 8192];

const overflowErrors: readonly OverflowError[] = [
  of(
    'OpenAI',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    both,
  ),
  of('MLC', 'Request prompt has 9001 tokens in total, larger than the model capacity 8192.', both),
  of('Nebius', 'Total tokens 9001 is greater than the model length 8192', both),
  of(
    'SambaNova',
    'Requested generation length 256 is not possible! The provided prompt is 8745 tokens long, so generating 256 tokens requires a sequence length of 9001, but the maximum supported sequence length is just 8192!',
    [8745, 8192],
    { type: 'Input_prompt_too_long' },
  ),
  of(
    'TensorRT-LLM, packed',
    'The sum of prompt length (9001), query length (0) and max_tokens (100) should not exceed max_num_tokens (8192)',
    both,
  ),
  of(
    'OpenAI completions',
    "This model's maximum context length is 8192 tokens, however you requested 9001 tokens (8745 in your prompt; 256 for the completion).",
    both,
  ),
  of(
    'OpenAI Responses',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    [null, null],
  ),
  of(
    'OpenAI, GPT-5',
    'Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 9001 tokens.',
    both,
  ),
  of('Anthropic', 'prompt is too long: 9001 tokens > 8192 maximum', both),
  of(
    'Anthropic with an answer',
    'input length and `max_tokens` exceed context limit: 8000 + 1001 > 8192, decrease input length or `max_tokens` and try again',
    both,
  ),
  of('Google', 'The input token count (9001) exceeds the maximum number of tokens allowed (8192).', both),
  of(
    'Vertex AI',
    'Unable to submit request because the input token count is 9001 but model only supports up to 8192. Reduce the input token count and try again.',
    both,
  ),
  of('Bedrock', 'Input is too long for requested model.', [null, null]),
  of('Bedrock, Titan', 'Too many input tokens. Max input tokens: 8192, request input token count: 9001', both),
  of(
    'Bedrock, Nova',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input.',
    [null, null],
  ),
  of(
    'vLLM',
    "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8001 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    both,
    { type: 'BadRequestError', code: 400 },
  ),
  of(
    'vLLM, max_tokens',
    "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 8192 tokens and your request has 1001 input tokens (8000 > 8192 - 1001).",
    both,
    { type: 'BadRequestError', code: 400 },
  ),
  of(
    'vLLM, newest',
    "You passed 9001 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192 tokens.",
    both,
  ),
  of('vLLM, engine', 'The decoder prompt (length 9001) is longer than the maximum model length of 8192.', both),
  of('vLLM, images', 'The prompt (total length 9001) is too long to fit into the model (context length 8192).', both),
  of('SGLang', "The input (9001 tokens) is longer than the model's context length (8192 tokens).", both),
  of(
    'SGLang with an answer',
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9001 tokens: 8001 tokens from the input messages and 1000 tokens for the completion.",
    both,
  ),
  of('llama.cpp', 'request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it', both),
  of(
    'llama.cpp, numbers apart',
    'the request exceeds the available context size. try increasing the context size',
    both,
    {
      type: 'exceed_context_size_error',
      code: 400,
      n_prompt_tokens: 9001,
      n_ctx: 8192,
    },
  ),
  of('llama-cpp-python', 'Requested tokens (9001) exceed context window of 8192', both),
  of(
    'LM Studio',
    'Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough.',
    both,
  ),
  of(
    'LM Studio, n_keep',
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9001>= n_ctx: 8192). Try to load the model with a larger context length.',
    both,
  ),
  of('Ollama', 'prompt too long; exceeded max context length by 809 tokens', [null, null], { type: 'api_error' }),
  of('Ollama embeddings', 'the input length exceeds the context length', [null, null], { type: 'api_error' }),
  of(
    'TGI',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 8000 `inputs` tokens and 1001 `max_new_tokens`',
    both,
  ),
  of('TGI, inputs', 'Input validation error: `inputs` must have less than 8192 tokens. Given: 9001', both),
  of('TensorRT-LLM', 'Prompt length (9001) exceeds maximum input length (8192).', both),
  of('Groq', 'Please reduce the length of the messages or completion.', [null, null], {
    code: 'context_length_exceeded',
  }),
  of(
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 9001 while limit is 8192',
    both,
  ),
  of(
    'Mistral',
    'Prompt contains 9001 tokens and 0 draft tokens, too large for model with 8192 maximum context length',
    both,
    {
      type: 'invalid_request_prompt',
      code: '3051',
    },
  ),
  of('xAI', "This model's maximum prompt length is 8192 but the request contains 9001 tokens.", both),
  of(
    'Cohere',
    'too many tokens: total number of tokens in the prompt cannot exceed 8192 - received 9001. Try using a shorter prompt.',
    both,
  ),
  of(
    'OpenRouter',
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9001 tokens (8001 of text input, 1000 in the output).",
    both,
  ),
  of('OpenRouter, Poolside', 'Input length 9001 exceeds the maximum allowed input length of 8192 tokens.', both),
  of('Together', "The input (9001 tokens) is longer than the model's context length (8192 tokens).", both),
  of('Fireworks', 'The prompt is too long: 9001, model maximum context length: 8192', both),
  of('Moonshot', 'Invalid request: Your request exceeded model token limit: 8192 (requested: 9001)', both),
  of('Zhipu', 'Prompt exceeds max length', [null, null], { code: '1261' }),
  of('Zhipu, Chinese', 'Prompt 超长', [null, null], { code: '1261' }),
  of('Qwen', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]', [null, 8192]),
  of('MiniMax', 'invalid params, context window exceeds limit (2013)', [null, null]),
  of('Volcengine', 'Total tokens of image and text exceed max message tokens. Request id: 0217', [null, null]),
  of('Perplexity', 'Too many tokens in the prompt.', [null, null], { type: 'too_many_prompt_tokens', code: 400 }),
  of('GitHub Copilot', 'prompt token count of 9001 exceeds the limit of 8192', both),
  of('DS4', 'Prompt has 9,001 tokens, but the configured context size is 8,192 tokens', both),
  of(
    'LiteLLM',
    "litellm.ContextWindowExceededError: This model's maximum context length is 8192 tokens. However, you requested 9001 tokens",
    both,
  ),
  of(
    'vLLM, prompts',
    "This model's maximum context length is 8192 tokens. However, you requested 0 output tokens and your prompt contains at least 9001 input tokens, for a total of at least 9001 tokens.",
    both,
  ),
  of('vLLM, engine option', 'Input prompt (9001 tokens) is too long and exceeds max_model_len of 8192', both),
  of('TabbyAPI', 'Prompt length 9001 is greater than max_seq_len 8192', both),
  of('oMLX', 'Prompt too long: 9001 tokens exceeds max context window of 8192 tokens', both),
  of('GitHub Models', 'Request body too large for gpt-4o model. Max size: 8192 tokens.', [null, 8192], {
    code: 'tokens_limit_reached',
  }),
  of(
    'Cloudflare',
    'AiError: The estimated number of input and maximum output tokens (9001) exceeded this model context window limit (8192).',
    both,
    { code: 5021 },
  ),
  of('watsonx', 'the number of input tokens 9001 cannot exceed the total tokens limit 8192 for this model', both),
  of('Volcengine, length', 'Input length 9001 exceeds the maximum length 8192', both),
  of('NVIDIA NIM', 'Input length 9001 exceeds maximum allowed token size 8192', both),
  of('Snowflake', 'max tokens of 8192 exceeded', [null, 8192]),
  of('iFlytek', '9001 token count exceeds the upper limit', [null, null]),
  of('DashScope', 'Total message token length exceed model limit (8192 tokens)', [null, 8192]),
  of('a proxy of code 400', "Error code: 400 - {'error': {'code': 'context_length_exceeded'}}", [null, null]),
  of('a client library', 'The conversation is too long for this model.', [null, null]),
  of('a gateway', 'Request size exceeds model context window', [null, null]),
];

/** Errors about other limits. */
const otherErrors: readonly [status: number, error: object][] = [
  [400, { message: 'max_tokens: 9000 > 4096 allowed' }],
  [
    400,
    {
      message:
        'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
    },
  ],
  [400, { message: 'The maximum tokens you requested exceeds the model limit of 4096.' }],
  [400, { message: 'max_completion_tokens exceeds the output token limit.' }],
  [400, { message: 'Input length 9001 exceeds the maximum of 4096 characters.' }],
  [400, { message: 'The number of tools exceeds the limit of 128.' }],
  [400, { message: 'Request body too large: at most 4194304 bytes are taken.' }],
  [429, { message: 'The token count exceeds the limit per minute.' }],
  [400, { message: "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576." }],
  [400, { message: 'Input is too long: at most 4096 characters may be spoken.' }],
  [400, { message: 'image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes' }],
  [400, { message: 'Too many tokens, please wait before trying again.' }],
  [413, { message: 'Maximum content size limit (26214400) exceeded' }],
  [
    413,
    {
      message: 'Request too large on tokens per minute (TPM): Limit 6000, Requested 9001',
      code: 'rate_limit_exceeded',
    },
  ],
  [429, { message: 'Too many tokens per day' }],
  [429, { message: "This model's maximum context length is 8192 tokens per minute" }],
  [401, { message: 'prompt is too long for this key' }],
];

const clients = Object.keys(wireTranslations) as WireName[];
type Json = Record<string, unknown>;

interface Told {
  status: number;
  type: string;
  code: unknown;
  message: string;
}

function read(status: number, body: string) {
  const { error, isPage } = readError(Buffer.from(body));
  return { status, error, isPage };
}

const classed = (status: number, body: string) => failureBy({ ...read(status, body), headers: {}, isAboutJob: false });

function told(client: WireName, status: number, body: string, known?: KnownSize): Told {
  const { status: toldStatus, body: rendered } = translatedError(wireTranslations[client], read(status, body), known);
  const { error } = JSON.parse(rendered.toString());
  if (client === 'gemini-generate') expect(error.code).toBe(toldStatus);
  return { status: toldStatus, type: error.type ?? error.status, code: error.code, message: error.message };
}

/** The same error in the forms that services, frameworks and gateways give it. */
const forms: Record<string, (error: Json) => unknown> = {
  nested: (error) => ({ error }),
  "Anthropic's": (error) => ({ type: 'error', error, request_id: 'r' }),
  "Google's list": (error) => [{ error }],
  flat: (error) => ({ object: 'error', ...error }),
  "Cerebras'": ({ message, type = 'x', code = null }) => ({ message, type, param: 'p', code }),
  'a text as the error': ({ message, code, type }) => ({ error: message, code, error_type: type }),
  'a detail': ({ message }) => ({ detail: message }),
  "Pydantic's list": ({ message, type }) => ({ detail: [{ loc: ['body', 'messages'], msg: message, type }] }),
  'an object as detail': (error) => ({ detail: { error } }),
  "Cloudflare's list": ({ message, code }) => ({ success: false, errors: [{ message, code }], result: null }),
  'code and msg': ({ message, code = 1 }) => ({ code, msg: message, data: null }),
  "MiniMax's": ({ message }) => ({ base_resp: { status_code: 2013, status_msg: message } }),
  "Baidu's": ({ message, code = 336000 }) => ({ error_code: code, error_msg: message }),
  'a message alone': ({ message }) => ({ message }),
  "OpenRouter's": (error) => ({
    error: {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: JSON.stringify({ error }), provider_name: 'P' },
    },
  }),
  "OpenRouter's text": ({ message }) => ({
    error: { message: 'Provider returned error', code: 400, metadata: { raw: message } },
  }),
};
const plainText = ({ message }: Json) => String(message);

describe.each(overflowErrors)(
  'a full context in the words of $service',
  ({ message, numbers: [tokens, limit], error }) => {
    const inForm = (form: (error: Json) => unknown) => JSON.stringify(form({ message, ...error }));

    test.each(Object.entries(forms))('in the form %s', (_form, form) => {
      const body = inForm(form);
      for (const status of [400, 413, 422, 500]) {
        expect(classed(status, body).class).toBe('too-large');
        for (const client of clients) expect(told(client, status, body)).toMatchObject(inWordsOf(client));
      }
    });

    test('as plain text', () => {
      expect(classed(400, plainText({ message })).class).toBe('too-large');
    });

    test('tells the numbers, or what is known of them', () => {
      const body = inForm((each) => ({ error: each }));
      expect(classed(400, body).contextTokens).toBe(limit ?? undefined);
      const known = { contextTokens: 8192, inputTokens: 9500 };
      for (const client of clients) {
        const said = told(client, 400, body, known).message;
        expect(said).toContain(String(limit ?? 8192));
        expect(said).toContain(String(tokens ?? 9500));
      }
    });

    test('as an event of a stream', () => {
      const found = readError(Buffer.from(inForm((each) => ({ error: each })))).error;
      expect(tellErrorWithin(found)).toMatchObject({ code: 'context_length_exceeded', status: 400 });
      expect(
        failureBy({ status: found ? statusOfError(found) : 500, error: found, headers: {}, isAboutJob: false }).class,
      ).toBe('too-large');
    });
  },
);

function inWordsOf(client: WireName): object {
  if (client === 'anthropic-messages')
    return { status: 400, type: 'invalid_request_error', message: expect.stringMatching(/^prompt is too long: /i) };
  if (client === 'gemini-generate')
    return {
      status: 400,
      type: 'INVALID_ARGUMENT',
      message: expect.stringMatching(
        /^The input token count(?: \(\d+\))? exceeds the maximum number of tokens allowed/,
      ),
    };
  return { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' };
}

test.each(otherErrors)('%i %j is about another limit', (status, error) => {
  const body = JSON.stringify({ error });
  expect(classed(status, body).class).not.toBe('too-large');
  for (const client of clients) expect(told(client, status, body).message).toContain((error as Json).message);
});

test('an unknown context is told in the words that make clients compact, without numbers', () => {
  const body = JSON.stringify({ error: { message: 'Input is too long for requested model.' } });
  expect(told('anthropic-messages', 400, body).message).toBe(
    'prompt is too long: Input is too long for requested model.',
  );
});

test.each(Object.entries(forms))('what is said in the form %s reaches every client', (_form, form) => {
  const body = JSON.stringify(form({ message: 'temperature must be non-negative, got -1.' }));
  for (const client of clients) {
    for (const status of [400, 404, 422, 429, 500]) {
      expect(told(client, status, body).message).toContain('temperature must be non-negative, got -1.');
    }
  }
});

test('what is said as plain text reaches every client', () => {
  for (const client of clients) {
    expect(told(client, 400, 'temperature must be non-negative')).toMatchObject({
      status: 400,
      message: 'temperature must be non-negative',
    });
  }
});

const openai = (message: string, more: Json = {}) => ({ error: { message, type: 'invalid_request_error', ...more } });
const claude = (type: string, message = 'x', more: Json = {}) => ({ type: 'error', error: { type, message, ...more } });
const google = (code: number, status: string, message = 'x') => ({ error: { code, status, message } });
const bedrock = (type: string, message = 'x') => ({ error: { type, message } });

const errors: readonly [status: number, body: unknown, FailureClass][] = [
  [
    400,
    { object: 'error', message: 'temperature must be non-negative', type: 'BadRequestError', code: 400 },
    'rejected',
  ],
  [400, { error: { message: 'bad', type: 'BadRequestError', param: null, code: 400 } }, 'rejected'],
  [400, { error: { message: 'invalid options', type: 'api_error', param: null, code: null } }, 'rejected'],
  [400, { object: 'error', message: 'order', type: 'invalid_request_message_order', code: '3230' }, 'rejected'],
  [400, { object: 'error', message: 'prompt', type: 'invalid_request_prompt', code: '1800' }, 'rejected'],
  [400, { error: 'Bad Request', message: 'no' }, 'rejected'],
  [400, openai('bad', { type: 'Bad Request' }), 'rejected'],
  [400, openai('bad', { type: 'upstream_error' }), 'rejected'],
  [400, openai('bad', { type: 'new_api_error', code: 'x' }), 'rejected'],
  [400, openai('bad', { type: 'BadRequest', code: 'BadRequest' }), 'rejected'],
  [400, openai('bad', { type: 'overloaded_error' }), 'rejected'],
  [400, openai('bad', { code: 'invalid_value' }), 'rejected'],
  [400, openai('filtered', { type: null, code: 'content_filter' }), 'rejected'],
  [400, openai('bad', { type: 'invalid_message', code: 400 }), 'rejected'],
  [400, openai('no such model', { code: 'model_not_found', param: 'model' }), 'model-unavailable'],
  [400, openai('Incorrect API key provided: xa***.'), 'credential'],
  [400, claude('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'), 'quota'],
  [400, claude('invalid_request_error'), 'rejected'],
  [400, google(400, 'INVALID_ARGUMENT'), 'rejected'],
  [400, google(400, 'OUT_OF_RANGE'), 'rejected'],
  [400, google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'credential'],
  [400, google(400, 'INVALID_ARGUMENT', 'API key not found. Please pass a valid API key.'), 'credential'],
  [400, google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'), 'model-unavailable'],
  [400, google(400, 'FAILED_PRECONDITION', 'Please enable billing on your project.'), 'quota'],
  [400, bedrock('ValidationException', 'Malformed input request'), 'rejected'],
  [400, bedrock('ValidationException', "This model doesn't support tool use."), 'model-unavailable'],
  [400, bedrock('ServiceQuotaExceededException'), 'rate-limit'],
  [400, 'nonsense', 'rejected'],
  [401, openai('no', { code: 'invalid_api_key' }), 'credential'],
  [401, claude('authentication_error'), 'credential'],
  [401, google(401, 'UNAUTHENTICATED'), 'credential'],
  [402, openai('Insufficient Balance', { code: 'invalid_request_error' }), 'quota'],
  [402, claude('billing_error'), 'quota'],
  [403, openai('No access to model: openai/o3', { code: 'no_access' }), 'model-unavailable'],
  [403, openai('flagged', { code: 'content_policy_violation' }), 'rejected'],
  [403, { message: 'Forbidden by policy' }, 'rejected'],
  [
    403,
    openai('Country, region, or territory not supported', { code: 'unsupported_country_region_territory' }),
    'model-unavailable',
  ],
  [403, claude('permission_error'), 'credential'],
  [403, google(403, 'PERMISSION_DENIED', 'Permission denied on resource project x.'), 'credential'],
  [
    403,
    bedrock('AccessDeniedException', "You don't have access to the model with the specified model ID."),
    'model-unavailable',
  ],
  [
    403,
    bedrock(
      'AccessDeniedException',
      'User is not authorized to perform: bedrock:X because no identity-based policy allows it',
    ),
    'credential',
  ],
  [403, bedrock('ExpiredTokenException'), 'credential'],
  [404, openai('The model `x` does not exist', { code: 'model_not_found' }), 'model-unavailable'],
  [404, openai("model 'x' not found", { type: 'api_error' }), 'model-unavailable'],
  [404, openai('No such File object: file-1', { param: 'id' }), 'rejected'],
  [404, claude('not_found_error', 'File not found: file_1'), 'rejected'],
  [404, claude('not_found_error', 'model: claude-opus-9'), 'model-unavailable'],
  [404, google(404, 'NOT_FOUND', 'models/x is not found'), 'model-unavailable'],
  [404, bedrock('ResourceNotFoundException', 'Model not found'), 'model-unavailable'],
  [405, { detail: 'Method Not Allowed' }, 'model-unavailable'],
  [408, openai('Request timed out', { type: 'timeout', code: 408 }), 'transient'],
  [408, bedrock('ModelTimeoutException'), 'transient'],
  [409, claude('conflict_error'), 'transient'],
  [
    413,
    openai('Request too large on tokens per minute (TPM)', { type: 'tokens', code: 'rate_limit_exceeded' }),
    'model-unavailable',
  ],
  [413, claude('request_too_large', 'Request exceeds the maximum size'), 'too-large'],
  [413, openai('Maximum content size limit (26214400) exceeded', { type: 'server_error' }), 'rejected'],
  [413, '', 'transient'],
  [415, openai('unsupported'), 'rejected'],
  [
    422,
    { detail: [{ loc: ['body', 'top_k'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] },
    'rejected',
  ],
  [424, bedrock('ModelErrorException', 'The model failed'), 'transient'],
  [429, openai('slow', { type: 'requests', code: 'rate_limit_exceeded' }), 'rate-limit'],
  [429, { message: 'slow', type: 'rate_limited', code: '1300' }, 'rate-limit'],
  [429, openai('slow', { code: 'RateLimitReached' }), 'rate-limit'],
  [429, { error: { code: '1302', message: 'Rate limit reached for requests' } }, 'rate-limit'],
  [429, { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } }, 'quota'],
  [429, openai('spent', { type: 'insufficient_quota', code: 'insufficient_quota' }), 'quota'],
  [429, claude('rate_limit_error', 'x', { details: { error_code: 'enforced_spend_limit_reached' } }), 'quota'],
  [
    429,
    {
      message: 'Requests per minute limit exceeded',
      type: 'too_many_requests_error',
      param: 'quota',
      code: 'request_quota_exceeded',
    },
    'rate-limit',
  ],
  [429, google(429, 'RESOURCE_EXHAUSTED'), 'rate-limit'],
  [429, bedrock('ThrottlingException'), 'rate-limit'],
  [429, bedrock('ModelNotReadyException'), 'transient'],
  [500, openai('oops', { type: 'server_error' }), 'transient'],
  [500, google(500, 'INTERNAL'), 'transient'],
  [500, openai('bad picture', { code: 'invalid_image' }), 'rejected'],
  [501, google(501, 'UNIMPLEMENTED'), 'model-unavailable'],
  [502, '<html>Bad gateway</html>', 'transient'],
  [503, google(503, 'UNAVAILABLE'), 'transient'],
  [504, google(504, 'DEADLINE_EXCEEDED'), 'transient'],
  [529, claude('overloaded_error'), 'transient'],
];

/** The statuses with which a client of any API may be told of a failure of each class. */
const statusesOf: Partial<Record<FailureClass, (status: number) => boolean>> = {
  rejected: (status) => [400, 403, 404, 413, 415, 422].includes(status),
  'too-large': (status) => status === 400 || status === 413,
  'rate-limit': (status) => status === 429,
  quota: (status) => status === 402 || status === 429,
  credential: (status) => [400, 401, 403].includes(status),
  'model-unavailable': (status) => [400, 403, 404, 405, 413, 501].includes(status),
  transient: (status) => [408, 409, 413, 424, 429].includes(status) || status >= 500,
};

describe.each(errors)('%i %j is %s', (status, value, wanted) => {
  const body = typeof value === 'string' ? value : JSON.stringify(value);

  test('for the router', () => expect(classed(status, body).class).toBe(wanted));

  test.each(clients)('for a client of %s', (client) => {
    const { status: toldStatus, type } = told(client, status, body);
    expect(statusesOf[wanted]?.(toldStatus)).toBe(true);
    // No SDK shall repeat what is permanent, nor give up what is not.
    if (status < 500) expect(toldStatus).toBeLessThan(500);
    if (status >= 500 && wanted === 'transient') expect(toldStatus).toBeGreaterThanOrEqual(500);
    if (status === 429 && wanted !== 'quota') expect(toldStatus).toBe(429);
    if (status === 408 || status === 424) expect(toldStatus).toBe(status);
    if (wanted === 'quota') expect(type).toMatch(/^(?:billing_error|insufficient_quota|RESOURCE_EXHAUSTED)$/);
    if (wanted === 'rate-limit') expect(type).toMatch(/^(?:rate_limit_error|requests|RESOURCE_EXHAUSTED)$/);
  });

  test('in a stream too', () => {
    const { error } = readError(Buffer.from(body));
    if (error === null || error.isText) return;
    const streamed = statusOfError(error);
    const failure = failureBy({ status: streamed, error, headers: {}, isAboutJob: false });
    const toldError = tellErrorWithin(error);
    expect(statusesOf[failure.class]?.(toldError.status)).toBe(true);
  });
});

describe('a page', () => {
  const page = '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>';

  test.each([400, 401, 402, 403])('with %i is nobody’s verdict on a credential', (status) => {
    expect(classed(status, page)).toMatchObject({ class: 'transient', retryable: true });
  });

  test.each<[number, FailureClass]>([
    [404, 'model-unavailable'],
    [413, 'transient'],
    [429, 'rate-limit'],
    [503, 'transient'],
  ])('with %i is %s', (status, wanted) => expect(classed(status, page).class).toBe(wanted));
});
