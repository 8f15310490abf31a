/** Errors in the words of SCIM (RFC 7644, 3.12). */
import { errorKinds, GatewayError } from '../../contract/errors.ts';

type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'noTarget' | 'uniqueness';

export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | null;

  constructor(status: number, detail: string, scimType: ScimType | null = null) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const notFound = (what: 'User' | 'Group', id: string) => new ScimError(404, `${what} ${id} not found.`);
export const invalid = (detail: string, scimType: ScimType = 'invalidValue') => new ScimError(400, detail, scimType);
export const taken = (detail: string) => new ScimError(409, detail, 'uniqueness');

/** Null for an error that is a bug. */
export function scimErrorOf(thrown: unknown): ScimError | null {
  if (thrown instanceof ScimError) return thrown;
  if (thrown instanceof GatewayError) return new ScimError(errorKinds[thrown.code].status, thrown.message);
  if (!(thrown instanceof Error) || !('status' in thrown) || typeof thrown.status !== 'number') return null;
  // Of Express and its body parser.
  switch ('type' in thrown ? thrown.type : null) {
    case 'entity.too.large':
      return new ScimError(413, 'The request is too large.');
    case 'entity.parse.failed':
      return invalid('The request is not valid JSON.', 'invalidSyntax');
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new ScimError(415, 'Send JSON in UTF-8.');
    default:
      return thrown.status < 500 ? new ScimError(thrown.status, 'The request cannot be read.') : null;
  }
}

export function describeScimError({ status, scimType, message }: ScimError) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType !== null && { scimType }),
    detail: message,
  };
}
