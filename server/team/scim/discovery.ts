/** What Sluice says of its SCIM (RFC 7643, 5 to 7), as the answers of /ServiceProviderConfig, /ResourceTypes and /Schemas. */
import { maxResults } from './filters.ts';

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export function serviceProviderConfig(baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that "sluice scim token" prints.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

export function resourceTypes(baseUrl: string) {
  const ofType = (name: string, schema: string) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  });
  return [ofType('User', userSchema), ofType('Group', groupSchema)];
}

interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'reference';
  multiValued: boolean;
  required: boolean;
  caseExact: boolean;
  mutability: 'readWrite' | 'readOnly' | 'immutable';
  returned: 'default';
  uniqueness: 'none' | 'server';
  subAttributes?: Attribute[];
}

const attribute = (name: string, more: Partial<Attribute> = {}): Attribute => ({
  ...{ name, type: 'string', multiValued: false, required: false, caseExact: false },
  ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
  ...more,
});

const complex = (name: string, subAttributes: Attribute[], multiValued: boolean): Attribute =>
  attribute(name, { type: 'complex', subAttributes, multiValued });

const externalId = (uniqueness: Attribute['uniqueness']) => attribute('externalId', { caseExact: true, uniqueness });

export function schemas(baseUrl: string) {
  const schema = (id: string, name: string, attributes: Attribute[]) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id, name, attributes },
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  });
  return [
    schema(userSchema, 'User', [
      attribute('userName', { required: true, uniqueness: 'server' }),
      externalId('server'),
      attribute('displayName'),
      attribute('active', { type: 'boolean' }),
      complex(
        'name',
        ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'].map((name) =>
          attribute(name),
        ),
        false,
      ),
      complex(
        'emails',
        [attribute('value'), attribute('type'), attribute('display'), attribute('primary', { type: 'boolean' })],
        true,
      ),
      { ...complex('groups', [attribute('value'), attribute('display')], true), mutability: 'readOnly' },
    ]),
    schema(groupSchema, 'Group', [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      externalId('none'),
      complex('members', [attribute('value', { mutability: 'immutable' }), attribute('display')], true),
    ]),
  ];
}
