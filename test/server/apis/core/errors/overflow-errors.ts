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

export const overflowErrors: readonly OverflowError[] = [
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
export const otherErrors: readonly [status: number, error: object][] = [
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
