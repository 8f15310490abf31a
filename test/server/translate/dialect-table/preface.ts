/** The beginning of docs/dialects.md, which says what its words mean. */
export const preface = `# What crosses between APIs

A client of any of four APIs reaches a provider of any other: Sluice translates. Each cell below is what became of one thing on
its way, both ways: the request of such a client to a model of such a provider, and its answer back. The page is not written by
hand but observed by \`test/server/translate/dialect-table.test.ts\`, which fails where something is lost and not told:
\`npx vitest run test/server/translate/dialect-table.test.ts -u\` writes it anew.

| | |
|---|---|
| as is | Client and provider speak the same API: the bytes pass unchanged. |
| carried | It is there on the other side, in the notation of that API. |
| emulated | The provider is brought to about the same by other means; told in \`x-sluice-emulated\`. |
| dropped | Left out, and the answer means the same without it; told in \`x-sluice-dropped\`. |
| refused | The request is 400, because its answer would mean something else. |
| – | The client's API has nothing of the kind. |

The headers name each field with its reason (\`top_k;why=no-equal\`), which are the notes below. The same stands in the request's
record: in the window, in \`sluice log ID\` and in exports. With \`x-sluice-lossy: refuse\`, or \`policy.losses: refuse\` of the
group, what would be emulated or dropped is 400 as well ([API](api.md)).

What a provider takes depends on the model, so one is named for each column; the two of OpenAI's chat are OpenAI's own, and one
of the many that serve this API alone. A thinking round trip is that of a client which sends an answer back as it got it.
Tokens are counted by a provider of the client's own API, and estimated elsewhere (\`x-sluice-estimated\`).
`;
