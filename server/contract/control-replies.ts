/** Reads the replies of a running Sluice's control plane, local or remote. */
import { z } from 'zod';
import type { ControlProblem } from './control-problem.ts';
import { type ErrorCode, errorKinds, GatewayError } from './errors.ts';
import type { EventMessage } from './events.ts';
import { isObject } from './is-object.ts';

/** The envelope. Results come from Sluice itself and are not validated. */
export const replySchema = z.union([
  z.object({
    error: z.object({
      message: z.string(),
      code: z.string().nullable(),
      problem: z.custom<ControlProblem>((value) => isObject(value) && typeof value.code === 'string').optional(),
    }),
  }),
  z.object({ result: z.unknown() }),
]);

interface RefusedBody {
  message: string;
  code: string | null;
  problem?: ControlProblem | undefined;
}

/** The error of a reply as a `GatewayError`. */
export function refusal({ message, code, problem }: RefusedBody): GatewayError {
  const entry = Object.entries(errorKinds).find(([, kind]) => kind.code !== null && kind.code === code);
  return new GatewayError((entry?.[0] as ErrorCode | undefined) ?? 'internal', message, problem ? { problem } : {});
}

/** `chunks`: the text of an event stream, split at any position. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncIterable<EventMessage> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as EventMessage;
    }
  }
}
