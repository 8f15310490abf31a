import { type ErrorCode, errorKinds, GatewayError } from './errors.ts';

/** The error that another Sluice has answered with. */
export function refusal({ message, code }: { message: string; code: string | null }): GatewayError {
  const known = Object.entries(errorKinds).find(([, kind]) => kind.code !== null && kind.code === code);
  return new GatewayError((known?.[0] as ErrorCode | undefined) ?? 'internal', message);
}
