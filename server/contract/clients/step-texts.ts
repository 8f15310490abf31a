/** English texts of the guides' steps, for the command line and the window. */
import type { TextsOf } from '../coded.ts';

export interface StepCodes {
  'run-in-terminal': object;
  'any-in-terminal': object;
  install: object;
  'write-program': object;
  'or-environment': object;
  'start-in-environment': object;
  'put-into': { file: string };
  'add-to': { file: string };
  open: { place: string };
  'run-from-palette': { command: string };
  'fill-in': object;
  'add-model': object;
  'any-other': object;
  'or-litellm-proxy': object;
  'uses-chat': { endpoint: string };
  'uses-other': { endpoint: string };
  'uses-both': { endpoint: string; other: string };
  'claude-plain-name': object;
  'qwen-proxy': object;
  'cursor-reach': object;
  'cursor-override': object;
  'zed-key': object;
  'context-guess': object;
  'copilot-version': object;
  'copilot-hidden': object;
  'copilot-key': object;
  'jetbrains-older': object;
  'from-container': object;
  'litellm-master-key': object;
  'aider-weak-model': object;
  'aider-title': { file: string };
  'llama-index-class': object;
  'raycast-plan': object;
  'goose-host': object;
  'embeddings-offline': object;
}

export const stepTexts: TextsOf<StepCodes> = {
  'run-in-terminal': () => 'Run in a terminal:',
  'any-in-terminal': () =>
    'Programs that take their provider from the environment find Sluice by these variables, whichever of the three APIs they speak:',
  install: () => 'Install:',
  'write-program': () => 'In your program:',
  'or-environment': () => 'Or set these environment variables:',
  'start-in-environment': () => 'Start it with the key in its environment:',
  'put-into': ({ file }) => `Put this into ${file}:`,
  'add-to': ({ file }) => `Add this to ${file}:`,
  open: ({ place }) => `Open ${place}.`,
  'run-from-palette': ({ command }) => `Run “${command}” from the command palette.`,
  'fill-in': () => 'Fill in:',
  'add-model': () => 'Choose the model, or add it by name:',
  'any-other': () => 'Any other client of the OpenAI API needs only this:',
  'or-litellm-proxy': () => 'Or, for the LiteLLM proxy, in its config.yaml:',
  'uses-chat': ({ endpoint }) => `It calls ${endpoint}, which every provider has, directly or translated.`,
  'uses-other': ({ endpoint }) =>
    `It calls ${endpoint}. For a provider that only has chat completions, Sluice translates.`,
  'uses-both': ({ endpoint, other }) =>
    `It calls ${endpoint}, and ${other} for some models. For a provider that only has chat completions, Sluice translates.`,
  'claude-plain-name': () =>
    'For a Claude model, use its plain name: Claude Code drops the thinking in an answer whose model has another name than the one it asked for.',
  'qwen-proxy': () =>
    'If HTTPS_PROXY is set, unset it for Qwen Code: it would send requests to this machine through that proxy too.',
  'cursor-reach': () =>
    'Cursor sends requests from its own servers, which cannot reach an address on your machine. You need a base URL that is reachable from outside, such as a tunnel, and its host name among the allowed host names (Settings › Address).',
  'cursor-override': () => 'The override applies to all OpenAI models at once.',
  'zed-key': () => 'Zed takes the key from the provider’s settings page or from the environment:',
  'context-guess': () => 'The token limits are guesses. Replace them by those of your model.',
  'copilot-version': () => 'You need VS Code 1.122 or later, which has the provider “Custom Endpoint”.',
  'copilot-hidden': () =>
    'If the model does not show up (VS Code 1.132 and later), set "chat.agentHost.byokModels.enabled" to true in settings.json.',
  'copilot-key': () =>
    'VS Code moves the key into its own secret storage if you enter it under “Chat: Manage Language Models” instead.',
  'jetbrains-older': () => 'In older versions it is in “Models & API keys”, under “Third-party AI providers”.',
  'from-container': () =>
    'If it runs in a container, use host.docker.internal in place of 127.0.0.1 and add that name to the allowed host names (Settings › Address). On Linux, the container needs the host’s network (--network=host).',
  'litellm-master-key': () => 'The proxy does not start without a master key of its own, which its clients use:',
  'aider-weak-model': () =>
    'Without --weak-model, Aider asks a cheaper model of its own choice for commit messages, which your key may not be allowed to use.',
  'aider-title': ({ file }) =>
    `Optional: Aider calls itself openai-python. With this in ${file}, its requests show as Aider:`,
  'llama-index-class': () =>
    'The class OpenAI of LlamaIndex refuses model names that it does not know. OpenAILike takes any.',
  'raycast-plan': () => 'Switch custom providers on in Raycast’s Settings → AI.',
  'goose-host': () => 'The host has no /v1: Goose adds the path itself.',
  'embeddings-offline': () =>
    'OpenAIEmbeddings downloads a tokenizer first. Set check_embedding_ctx_length=False to do without it.',
};
