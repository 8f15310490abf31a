/** The control plane of a team's gateway, over HTTPS with an API token. */
import { z } from 'zod';
import type { CommandInputMap, CommandResults, CommandType } from '../../contract/commands.ts';
import { controlError } from '../../contract/control-error.ts';
import { readEvents, refusal, replySchema } from '../../contract/control-replies.ts';
import { errorKinds, type GatewayError } from '../../contract/errors.ts';
import type { EventMessage } from '../../contract/events.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../contract/queries.ts';
import type { Fetch } from '../../transport/fetch.ts';

/** All methods reject with a GatewayError. */
export interface TeamGateway {
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  openEvents(): Promise<AsyncIterable<EventMessage>>;
}

const deviceSchema = z.object({
  deviceCode: z.string(),
  userCode: z.string(),
  verificationUri: z.url({ protocol: /^https?$/ }),
  verificationUriComplete: z.url({ protocol: /^https?$/ }).nullable(),
  expiresInSeconds: z.number(),
  intervalSeconds: z.number(),
});
export type DeviceSignIn = z.infer<typeof deviceSchema>;

const grantSchema = z
  .object({ token: z.string(), expiresAt: z.number(), person: z.object({ name: z.string() }) })
  .nullable();
export type TokenGrant = NonNullable<z.infer<typeof grantSchema>>;

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The origin of a gateway's address. Throws a GatewayError for an address to which a token must not be sent. */
export function gatewayOrigin(address: string): string {
  const url = URL.parse(address);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.test(url.hostname));
  if (!url || !isSafe) throw controlError('invalid_command', { code: 'gateway-address-wrong', address }, 'url');
  return url.origin;
}

export function createTeamGateway(fetch: Fetch, origin: string, token: string): TeamGateway {
  const ask = (path: string, body: object) => post(fetch, `${origin}/control${path}`, { token, body });
  return {
    execute: async <Result>(command: object) => (await ask('/execute', command)) as Result,
    query: async <Result>(query: object) => (await ask('/query', query)) as Result,
    openEvents: () => openEvents(fetch, origin, token),
  };
}

/** Requests a code from the gateway, which the person enters at the identity provider. */
export async function requestDeviceCode(fetch: Fetch, origin: string): Promise<DeviceSignIn> {
  return postFor(deviceSchema, fetch, `${origin}/control/device`, {});
}

/** Null while the sign-in is pending. `name`: the label under which the person will find the token. */
export async function pollToken(
  fetch: Fetch,
  origin: string,
  body: { deviceCode: string; name: string },
): Promise<TokenGrant | null> {
  return postFor(grantSchema, fetch, `${origin}/control/device/token`, body);
}

/** Ends the token. */
export async function revokeToken(fetch: Fetch, origin: string, token: string): Promise<void> {
  await post(fetch, `${origin}/control/sign-out`, { token, body: {} });
}

interface PostedRequest {
  token?: string;
  body?: object;
}

async function post(fetch: Fetch, address: string, request: PostedRequest): Promise<unknown> {
  return readReply(address, await reach(fetch, address, request));
}

/** A result that is not as this version expects it comes from another program, or from another version of Sluice. */
async function postFor<Result>(
  schema: z.ZodType<Result>,
  fetch: Fetch,
  address: string,
  body: object,
): Promise<Result> {
  const response = await reach(fetch, address, { body });
  const result = schema.safeParse(await readReply(address, response));
  if (!result.success) throw notAGateway(address, response);
  return result.data;
}

async function readReply(address: string, response: Response): Promise<unknown> {
  const reply = replySchema.safeParse(await response.json().catch(() => undefined));
  if (!reply.success) throw notAGateway(address, response);
  if (!('error' in reply.data)) return reply.data.result;
  // The Sluice at this address accepts only the administrator of its machine.
  if (reply.data.error.code === errorKinds.control_refused.code) throw notAGateway(address, response);
  throw refusal(reply.data.error);
}

async function reach(fetch: Fetch, address: string, { token, body }: PostedRequest): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  try {
    return await fetch(address, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw controlError('upstream_unreachable', { code: 'gateway-away', address, reason });
  }
}

function notAGateway(address: string, { status }: Response): GatewayError {
  return controlError('upstream_malformed', { code: 'gateway-not-sluice', address, status });
}

async function openEvents(fetch: Fetch, origin: string, token: string): Promise<AsyncIterable<EventMessage>> {
  const response = await reach(fetch, `${origin}/control/events`, { token });
  if (!response.ok || !response.body) {
    await readReply(origin, response);
    throw notAGateway(origin, response);
  }
  return readEvents(response.body.pipeThrough(new TextDecoderStream()));
}
