import { describe, expect, test } from 'vitest';
import { converseFacts } from '../../../server/apis/bedrock/translation/model-facts.ts';
import { claudeFacts, geminiFacts, largestAnswer, openaiFacts } from '../../../server/models/model-facts.ts';

describe('the facts of a model', () => {
  test.each([
    ['claude-opus-4-5-20251101', 64_000],
    ['us.anthropic.claude-opus-4-5-20251101-v1:0', 64_000],
    ['anthropic/claude-opus-4.5', 64_000],
    ['claude-opus-4-5@20251101', 64_000],
    ['claude-opus-4-20250514', 32_000],
    ['claude-sonnet-4-20250514', 64_000],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-3-5-haiku-latest', 8192],
    ['claude-opus-5-5', 128_000],
    ['claude-opus-4-9', 128_000],
    ['claude-epic-9', 128_000],
    ['claude-opus-4-0', 32_000],
    ['claude-4-sonnet', 64_000],
    ['claude-3-7-sonnet', 64_000],
    ['claude-2.1', 4096],
    ['us.amazon.nova-pro-v1:0', 10_000],
    ['glm-5', null],
  ])('%s may write %s tokens', (model, tokens) => expect(largestAnswer(model)).toBe(tokens));

  test('of an unknown Claude are those of the newest, which takes least', () => {
    expect(claudeFacts('claude-epic-9')).toMatchObject({ sampling: 'none', forcedTool: 'no', thinking: ['adaptive'] });
    expect(claudeFacts('claude-opus-4-9')).toEqual(claudeFacts('claude-epic-9'));
  });

  test.each([
    ['claude-opus-4-0', 'claude-opus-4-20250514'],
    ['claude-sonnet-4-0', 'claude-sonnet-4-20250514'],
    ['claude-4-opus', 'claude-opus-4-20250514'],
    ['claude-3.5-sonnet', 'claude-3-5-sonnet-20241022'],
    ['claude-2.1', 'claude-3-haiku'],
    ['claude-instant-v1', 'claude-3-haiku'],
  ])('of the old %s are not those of the newest', (model, same) => {
    expect(claudeFacts(model)).toEqual(claudeFacts(same));
    expect(claudeFacts(model).thinking).not.toContain('adaptive');
  });

  test.each([
    ['claude-opus-5', true],
    ['claude-opus-4-8', true],
    ['claude-sonnet-5-5', true],
    ['claude-sonnet-5', false],
    ['claude-opus-4-7', false],
  ])('%s takes system turns: %s', (model, takes) => expect(claudeFacts(model).systemTurns).toBe(takes));

  test.each([
    ['models/gemini-3-pro-preview', ['LOW', 'MEDIUM', 'HIGH']],
    ['gemini-3-flash', ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
    ['gemini-2.5-flash', []],
    ['gemini-2.0-flash-001', []],
    ['gemini-pro', []],
    ['gemini-robotics-er-1.5-preview', []],
    ['gemini-flash-latest', ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
    ['gemini-9', ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
  ])('%s knows the levels %j', (model, levels) => expect(geminiFacts(model).levels).toEqual(levels));

  test.each([
    ['gpt-5', ['minimal', 'low', 'medium', 'high']],
    ['gpt-5-2025-08-07', ['minimal', 'low', 'medium', 'high']],
    ['gpt-5-chat-latest', []],
    ['gpt-3.5-turbo', []],
    ['gpt-35-turbo', []],
    ['gpt-4-32k', []],
    ['gpt-4-turbo-2024-04-09', []],
    ['gpt-4-1106-preview', []],
    ['gpt-audio', []],
    ['gpt-9', ['low', 'medium', 'high', 'xhigh']],
    ['gpt-5-mini-2025-08-07', ['minimal', 'low', 'medium', 'high']],
    ['openai/gpt-5.4', ['none', 'low', 'medium', 'high', 'xhigh']],
    ['gpt-5.5', ['none', 'low', 'medium', 'high', 'xhigh']],
    ['gpt-5.5-pro-2026-04-23', ['medium', 'high', 'xhigh']],
    ['gpt-5.1-codex', ['low', 'medium', 'high']],
    ['gpt-5.6-terra', ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
    ['gpt-6-astra', ['low', 'medium', 'high', 'xhigh', 'max']],
    ['gpt-6.1-sol', ['low', 'medium', 'high', 'xhigh', 'max']],
    ['gpt-6-sol', ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
    ['gpt-4o-mini', []],
    ['gpt-4.1', []],
    ['gpt-oss-120b', ['low', 'medium', 'high']],
    ['o3-mini', ['low', 'medium', 'high']],
    ['llama-3.3-70b', []],
    ['constructor', []],
  ])('%s knows the efforts %j', (model, efforts) => expect(openaiFacts(model).efforts).toEqual(efforts));

  test.each([
    ['gpt-5.5', 'all'],
    ['gpt-5.5-pro', 'nothing'],
    ['o3-pro-2025-06-10', 'nothing'],
    ['gpt-5.3-codex', 'nothing'],
    ['gpt-5.6-sol', 'functions-without-effort'],
    ['gpt-6-luna', 'functions-with-none'],
    ['gpt-6-astra', 'no-functions'],
    ['gpt-6.1-sol', 'no-functions'],
    ['gpt-6-terra', 'no-functions'],
  ])('%s takes of chat completions: %s', (model, chat) => expect(openaiFacts(model).chat).toBe(chat));

  // Source: Amazon Bedrock user guide, "Get validated JSON results from models", "Supported models".
  test.each([
    'qwen.qwen3-32b-v1:0',
    'qwen.qwen3-235b-a22b-2507-v1:0',
    'qwen.qwen3-coder-480b-a35b-v1:0',
    'qwen.qwen3-next-80b-a3b',
    'openai.gpt-oss-20b-1:0',
    'openai.gpt-oss-safeguard-120b',
    'deepseek.v3-v1:0',
    'deepseek.v3.2',
    'google.gemma-3-12b-it',
    'minimax.minimax-m2',
    'minimax.minimax-m2.5',
    'mistral.magistral-small-2509',
    'mistral.ministral-3-3b-instruct',
    'mistral.mistral-large-3-675b-instruct',
    'mistral.voxtral-mini-3b-2507',
    'moonshot.kimi-k2-thinking',
    'moonshotai.kimi-k2.5',
    'nvidia.nemotron-nano-9b-v2',
    'zai.glm-5',
  ])('%s on Bedrock keeps to a schema', (model) => expect(converseFacts(model).structuredOutput).toBe(true));

  test.each([
    'google.gemma-3-4b-it',
    'us.deepseek.r1-v1:0',
    'mistral.mistral-large-2407-v1:0',
    'us.amazon.nova-2-lite-v1:0',
    'meta.llama3-3-70b-instruct-v1:0',
    'xai.grok-4.6',
  ])('%s on Bedrock does not', (model) => expect(converseFacts(model).structuredOutput).toBe(false));
});
