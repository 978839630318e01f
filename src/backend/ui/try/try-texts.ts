import { countOf, numbers } from '../components/format.ts'

export const tryItTexts = {
  more: (amount: number) => `More parameters (${numbers.format(amount)})`,
  body: 'Body',
  bodyType: 'Media type of the body',
  file: (type: string) => `File (${type})`,
  chooseFile: 'Choose a file',
  chooseFiles: 'Choose files',
  clearFile: (name: string) => `Clear ${name}`,
  jsonPart: 'JSON',
  reset: 'Reset to the example',
  token: 'Token',
  tokenText: 'A token that is valid for 15 minutes, with your scopes of the project, but no backend scopes.',
  otherUser: 'To call it with curl as another user:',
  publicText: 'The method is public. A token only identifies the caller.',
  mine: (user: string) => `A token of ${user}`,
  noToken: 'No token',
  send: 'Send',
  response: 'Response',
  noResponse: 'Send the request to see the response. The call is real and can change data.',
  bytes: (bytes: number) => (bytes < 1024 ? countOf(bytes, 'byte') : `${numbers.format(Math.round(bytes / 1024))} KB`),
  fileLimits: (bytes: number, types: readonly string[] = []) =>
    [`At most ${describeSize(bytes)}`, types.join(' or ')].filter(Boolean).join('; '),
  noBody: 'The response has no body.',
  cut: 'Only the first 256 KB are shown.',
  stop: 'Stop',
  stopped: 'Stopped. The server may have processed the request.',
  states: {
    open: 'Receiving …',
    limit: 'Reading stopped after 64 MB.',
    stopped: 'Stopped before the response was complete.',
    broken: 'The connection was lost before the response was complete.',
  },
  binary: (type: string) => `The response is not text (${type}).`,
  unknownType: 'of no declared type',
  download: 'Download',
  lines: 'One value per line',
  empty: 'empty',
  sendEmpty: (name: string) => `Send ${name} empty`,
  sentEmpty: 'sent without text',
  dots: 'This would call another operation: clients shorten paths with "." and "..".',
  headers: (amount: number) => countOf(amount, 'header'),
  code: 'Code of this request',
  codeIn: (language: string) => `Code in ${language}`,
  language: 'Language',
  languages: { curl: 'curl', javascript: 'JavaScript', python: 'Python' },
  redirect: 'The response is a redirect. Browsers do not show its target, and the token is not sent there.',
  network: 'The server cannot be reached, or the route does not allow calls from this page.',
  history: 'Last calls',
  failed: 'failed',
  ask: (scopes: string) => `You need the scope ${scopes}. Ask an administrator to grant it to you.`,
  lacks: (user: string, scopes: string) => `${user} does not have the scope ${scopes}.`,
  grant: (scope: string) => `Give me ${scope} and send again`,
  granted: (user: string, scope: string) => `${user} has ${scope}`,
} as const

/** Writes a size as the definition does, such as 5mb. */
function describeSize(bytes: number): string {
  if (bytes % 1024 ** 2 === 0) return `${bytes / 1024 ** 2}mb`
  return bytes % 1024 === 0 ? `${bytes / 1024}kb` : `${bytes}b`
}
