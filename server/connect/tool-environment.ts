/**
 * The environment in which a program finds Sluice, whichever API it uses. The variables are those that the official
 * SDKs read (openai, @anthropic-ai/sdk, @google/genai), and the programs built on them: Claude Code, Gemini CLI, Qwen
 * Code, aider, llm, Zed.
 */
import { claudeModelVariables, claudeSwitches } from './rival-settings.ts';

export interface ToolAccess {
  /** The origin at which Sluice listens. */
  origin: string;
  key: string;
  /** The model, for programs that read it from their environment. */
  model?: string | undefined;
}

/** A variable without a value must be unset. */
export type ToolEnvironment = ReadonlyMap<string, string | undefined>;

export type Variables = Readonly<Record<string, string | undefined>>;

/** @param present the present environment, whose `NO_PROXY` is kept */
export function toolEnvironment({ origin, key, model }: ToolAccess, present: Variables): ToolEnvironment {
  const baseUrl = `${origin}/v1`;
  const noProxy = withoutProxy(present.NO_PROXY || present.no_proxy, new URL(origin).hostname);
  return new Map([
    ['SLUICE_KEY', key],
    // For Zed, which makes the name from that of the provider in its settings.
    ['SLUICE_API_KEY', key],
    ['OPENAI_BASE_URL', baseUrl],
    // For LiteLLM, and therefore aider.
    ['OPENAI_API_BASE', baseUrl],
    ['OPENAI_API_KEY', key],
    ['ANTHROPIC_BASE_URL', origin],
    ['ANTHROPIC_AUTH_TOKEN', key],
    // For LiteLLM, which prefers it.
    ['ANTHROPIC_API_BASE', origin],
    // Claude Code would also send it, and asks which of the two to use.
    ['ANTHROPIC_API_KEY', undefined],
    ...claudeSwitches.map((name): [string, undefined] => [name, undefined]),
    // Claude Code then ignores what its settings files say about providers, also where another program starts it.
    ['CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST', '1'],
    // Behind an address other than Anthropic's, Claude Code would otherwise send the tools of all MCP servers with each request,
    // and offer nothing of a gateway in its `/model`.
    ...Object.entries(claudeStrength).map(([name, value]): [string, string] => [name, present[name] || value]),
    ['GOOGLE_GEMINI_BASE_URL', origin],
    ['GEMINI_API_KEY', key],
    // These take precedence over GEMINI_API_KEY.
    ['GOOGLE_API_KEY', undefined],
    ['GOOGLE_GENAI_USE_VERTEXAI', undefined],
    ['GOOGLE_GENAI_USE_GCA', undefined],
    // For earlier versions of openai-python.
    ['OPENAI_API_TYPE', undefined],
    // Some programs would otherwise send even requests to loopback addresses to a proxy.
    ['NO_PROXY', noProxy],
    ['no_proxy', noProxy],
    ...(model ? modelVariables.map((name): [string, string] => [name, model]) : []),
  ]);
}

const claudeStrength = { ENABLE_TOOL_SEARCH: 'true', CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' };

const modelVariables = ['OPENAI_MODEL', 'GEMINI_MODEL', ...claudeModelVariables];

/** NO_PROXY with a host added that is reached directly. */
export function withoutProxy(present: string | undefined, host: string): string {
  const hosts = (present ?? '').split(',').map((each) => each.trim());
  return [...new Set([...hosts, host, 'localhost'])].filter((each) => each !== '').join(',');
}

/** The present variables, with the tool's variables set and unset. */
export function withTool(present: Variables, tool: ToolEnvironment): Variables {
  const changed = Object.fromEntries([...tool].filter(([, value]) => value !== undefined));
  const others = Object.entries(present).filter(([name]) => !tool.has(name));
  return { ...Object.fromEntries(others), ...changed };
}
