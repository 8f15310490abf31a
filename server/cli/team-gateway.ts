/** The control plane of a team's gateway, over HTTPS with an API token. */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { EventMessage } from '../contract/events.ts';
import type { Control } from './control.ts';
import { readEvents, refusal, replySchema } from './control-replies.ts';
import { CliError } from './exit-codes.ts';

const deviceSchema = z.object({
  deviceCode: z.string(),
  userCode: z.string(),
  verificationUri: z.url({ protocol: /^https?$/ }),
  verificationUriComplete: z.url({ protocol: /^https?$/ }).nullable(),
  expiresInSeconds: z.number(),
  intervalSeconds: z.number(),
});
export type DeviceSignIn = z.infer<typeof deviceSchema>;

const letInSchema = z
  .object({ token: z.string(), expiresAt: z.number(), person: z.object({ name: z.string() }) })
  .nullable();
export type LetIn = NonNullable<z.infer<typeof letInSchema>>;

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The origin of a gateway's address. Throws a CliError for one over which a token must not be sent. */
export function gatewayOrigin(address: string): string {
  const url = URL.parse(address);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.test(url.hostname));
  if (!url || !isSafe) throw new CliError(`"${address}" is no address of a gateway: use https://gateway.example`);
  return url.origin;
}

export function openTeamGateway(origin: string, token: string): Control {
  return {
    origin,
    execute: async <Result>(body: object) => (await post(`${origin}/control/execute`, { token, body })) as Result,
    query: async <Result>(body: object) => (await post(`${origin}/control/query`, { token, body })) as Result,
    openEvents: () => openEvents(origin, token),
    close: async () => {},
  };
}

/** Asks the gateway for a code, which the person enters at the identity provider. */
export async function beginDevice(origin: string): Promise<DeviceSignIn> {
  return deviceSchema.parse(await post(`${origin}/control/device`, { body: {} }));
}

/** Waits until the person has agreed. `name`: what they are to recognise the token by. */
export async function waitUntilLetIn(origin: string, device: DeviceSignIn, name: string): Promise<LetIn> {
  for (let waitedSeconds = 0; waitedSeconds < device.expiresInSeconds; waitedSeconds += device.intervalSeconds) {
    const body = { deviceCode: device.deviceCode, name };
    const letIn = letInSchema.parse(await post(`${origin}/control/device/token`, { body }));
    if (letIn) return letIn;
    await pause(device.intervalSeconds * 1_000);
  }
  throw new CliError('The code has expired. Run "sluice login" again.');
}

/** Ends the token. */
export async function endToken(origin: string, token: string): Promise<void> {
  await post(`${origin}/control/sign-out`, { token, body: {} });
}

async function post(address: string, { token, body }: { token?: string; body: object }): Promise<unknown> {
  const response = await reach(address, { token, body });
  const reply = replySchema.safeParse(await response.json().catch(() => undefined));
  if (!reply.success) throw new CliError(`${address} is no Sluice where people sign in (status ${response.status}).`);
  if ('error' in reply.data) throw refusal(reply.data.error);
  return reply.data.result;
}

/** No redirect is followed, since it would take the token along. */
async function reach(
  address: string,
  { token, body }: { token?: string | undefined; body?: object },
): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const sent = body && { method: 'POST', body: JSON.stringify(body) };
  try {
    return await fetch(address, { ...sent, headers, redirect: 'error' });
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    throw new CliError(`${address} does not answer: ${cause instanceof Error ? cause.message : String(error)}.`);
  }
}

async function openEvents(origin: string, token: string): Promise<AsyncIterable<EventMessage>> {
  const { ok, status, body } = await reach(`${origin}/control/events`, { token });
  if (!ok || !body) throw new CliError(`The event stream was refused (status ${status}).`);
  return readEvents(body.pipeThrough(new TextDecoderStream()));
}
