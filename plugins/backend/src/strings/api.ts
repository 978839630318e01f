// Texts of components that describe methods of an API and call them, in the backend and in the portal.

const count = new Intl.NumberFormat('en')

/** `1 user`, `4 users`, `1,204 calls`. */
export function countOf(amount: number, one: string, many = `${one}s`): string {
  return `${count.format(amount)} ${amount === 1 ? one : many}`
}

export const api = {
  ms: (value: number) => (value < 10 ? `${value.toFixed(1)} ms` : `${count.format(Math.round(value))} ms`),
  schema: {
    required: 'required',
    any: 'any value',
    never: 'no value',
    list: 'list of',
    listOf: (type: string) => `list of ${type}`,
    of: 'or',
    oneOf: 'One of',
    anyOf: 'Any of',
    allOf: 'All of',
    other: 'other properties',
    characters: (range: string) => `${range} characters`,
    items: (range: string) => `${range} items`,
    unique: 'unique items',
    default: (value: string) => `default ${value}`,
    pattern: (value: string) => `matches ${value}`,
    multiple: (value: string) => `multiple of ${value}`,
    readOnly: 'read-only',
    empty: 'No body',
    json: 'JSON',
    partsOf: 'Properties of',
  },
  tryIt: {
    more: (amount: number) => `More parameters (${count.format(amount)})`,
    body: 'Body',
    reset: 'Reset to the example',
    token: 'Token',
    tokenText: 'A token of 15 minutes with your scopes of the project, never with those of the backend.',
    otherUser: 'To call it with curl as another user:',
    publicText: 'The method is public. A token only identifies the caller.',
    mine: (user: string) => `A token of ${user}`,
    noToken: 'No token',
    send: 'Send',
    answer: 'Response',
    noAnswer: 'Send the request to see the response. The call is real and can change data.',
    bytes: (bytes: number) => (bytes < 1024 ? countOf(bytes, 'byte') : `${count.format(Math.round(bytes / 1024))} KB`),
    empty: 'The response has no body.',
    cut: 'The rest of the response is not shown.',
    headers: (amount: number) => countOf(amount, 'header'),
    code: 'Code of this request',
    codeIn: (language: string) => `Code in ${language}`,
    language: 'Language',
    languages: { curl: 'curl', javascript: 'JavaScript', python: 'Python' },
    redirect: 'The response is a redirect. Browsers do not show where it leads, and the token does not follow it.',
    network: 'The server cannot be reached, or the route does not allow calls from this page.',
    history: 'Last calls',
    failed: 'failed',
    ask: (scopes: string) => `You need the scope ${scopes}. Ask an administrator to give it to you.`,
    lacks: (user: string, scopes: string) => `${user} does not have the scope ${scopes}.`,
    grant: (scope: string) => `Give me ${scope} and send again`,
    granted: (user: string, scope: string) => `${user} has ${scope}`,
  },
} as const
