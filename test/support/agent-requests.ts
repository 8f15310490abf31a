/**
 * How coding agents identify their sessions: headers and fields as sent by the versions named below, reduced to those
 * that concern sessions.
 */

export interface AgentRequest {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

const user = (content: string) => ({ role: 'user', content });

/** Claude Code 2.1.197. */
export function claudeCode(session: string, agent?: string): AgentRequest {
  const userId = JSON.stringify({ device_id: 'fd01be86', account_uuid: '', session_id: session });
  return {
    path: '/messages?beta=true',
    headers: {
      'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
      'x-claude-code-session-id': session,
      ...(agent && { 'x-claude-code-agent-id': agent }),
      'x-app': 'cli',
      'anthropic-version': '2023-06-01',
    },
    body: { model: 'gpt-x', max_tokens: 100, metadata: { user_id: userId }, messages: [user('Read the note.')] },
  };
}

/** Claude Code before 2.1.78, which sent no session header. */
export function olderClaudeCode(session: string): AgentRequest {
  const { path, body } = claudeCode(session);
  return { path, headers: {}, body: { ...body, metadata: { user_id: `user_5f_account__session_${session}` } } };
}

/** Codex 0.169. */
export function codex(session: string, thread = session): AgentRequest {
  return {
    path: '/responses',
    headers: {
      'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.169.0)',
      'session-id': session,
      'thread-id': thread,
      originator: 'codex_exec',
    },
    body: { model: 'gpt-x', store: false, prompt_cache_key: thread, input: [user('Read the note.')] },
  };
}

/** opencode 1.18; a subagent names its parent session. */
export function opencode(session: string, parent?: string): AgentRequest {
  return {
    path: '/chat/completions',
    headers: {
      'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
      'x-session-affinity': session,
      'x-session-id': session,
      ...(parent && { 'x-parent-session-id': parent }),
    },
    body: { model: 'gpt-x', messages: [user('Read the note.')] },
  };
}
