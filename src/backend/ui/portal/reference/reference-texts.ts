import { countOf } from '../../components/format.ts'

export const tabsTexts = {
  operations: 'Operations',
  authentication: 'Authentication',
  errors: 'Errors',
} as const

export const accessTexts = {
  title: 'Access',
  public: 'Public',
  token: 'Token',
  publicSentence: 'Anyone can call this operation. It needs no token.',
  tokenSentence: 'Needs an access token. No scope is required.',
  scopeSentence: 'Needs an access token with the scope',
  scopesSentence: 'Needs an access token with one of these scopes:',
  ofAccount: {
    missing: 'not in your account',
    has: 'Your account has this access.',
    lacks: 'Your account does not have this access. Ask the operator of this API for it.',
  },
  ofToken: {
    missing: 'not in your token',
    has: 'Your token has this access.',
    lacks: 'Your token does not have this access.',
  },
  how: 'How to get a token',
  or: 'or',
} as const

export const operationTexts = {
  tabs: { reference: 'Reference', try: 'Try it' },
  tabsLabel: 'Operation',
  path: 'Path parameters',
  query: 'Query parameters',
  headers: 'Headers',
  body: 'Request body',
  bodyOptional: 'Optional.',
  bodyRequired: 'Required.',
  responses: 'Responses',
  noBody: 'No body.',
  anyBody: 'The format is not declared.',
  eachItem: 'each item, as it arrives',
  responseHeaders: 'Response headers',
  errors: 'Errors',
  errorsText: 'Format of errors',
  exampleRequest: 'Example request',
  exampleResponse: 'Example response',
  responseStatus: 'Status of the response',
  deprecated: 'This operation is deprecated. It still works, but will be removed.',
  previous: 'Previous',
  next: 'Next',
  neighbours: 'Other operations',
  notFound: 'No such operation',
  notFoundText: 'It may have been removed or renamed.',
  back: 'All operations',
} as const

export const referenceTexts = {
  tabsLabel: 'API reference',
  baseUrl: 'Base URL',
  url: 'URL',
  document: 'OpenAPI document',
  download: 'Download openapi.json',
  filter: 'Filter operations',
  filterHint: 'Method, path, text or scope',
  found: (amount: number) => (amount === 0 ? 'No operation matches' : countOf(amount, 'operation')),
  none: 'No operation matches',
  noneText: 'Search for a method, a part of a path, a word of a description or a scope.',
  clear: 'Clear the filter',
  empty: 'No operations yet',
  emptyText: 'This API has no routes yet.',
  deprecated: 'deprecated',
} as const
