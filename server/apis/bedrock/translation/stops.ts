/** Stop reasons of Bedrock's Converse API. */
import { entryOf } from '../../core/table-entry.ts';
import type { Stop, StopReason } from '../../neutral/neutral-answer.ts';

type Json = Record<string, unknown>;

/** Source: Amazon Bedrock API reference, "Converse", `stopReason`. */
const reasons: Record<string, StopReason> = {
  end_turn: 'end',
  tool_use: 'tool',
  max_tokens: 'length',
  stop_sequence: 'sequence',
  guardrail_intervened: 'filter',
  content_filtered: 'filter',
  malformed_model_output: 'malformed',
  malformed_tool_use: 'malformed',
  model_context_window_exceeded: 'window',
};

/** An unknown reason counts as a normal end. */
export function parseStop({ stopReason }: Json): Stop {
  return { reason: entryOf(reasons, stopReason) ?? 'end' };
}
