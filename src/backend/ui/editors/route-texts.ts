export const accessTexts = {
  title: 'Access',
  kind: 'Who may call it?',
  kinds: { route: 'Inherited', public: 'Anyone', scopes: 'Tokens with a scope', any: 'Any valid token' },
  sentences: {
    route: 'The same as the other methods of the path. Choose another option to override it for this method.',
    public: 'No token is needed.',
    scopes: 'Only for this method: a token needs one of the scopes that you choose.',
    any: 'Every user and client with a valid token may call it.',
  },
  anyToken: 'any valid token',
  publicChange: 'No token is needed to change data. Choose a rate limit below.',
  inherited: (path: string, scopes: string) => `Inherited from ${path}${scopes === '' ? '' : `: ${scopes}`}`,
  changeShared: (path: string) => `Change it for all methods of ${path}`,
  scopes: 'Scopes',
  scopesText: 'One of them is enough.',
  noScopes: (path: string) => `One of them is enough. Without one, the method inherits the access of ${path}.`,
  routeScopes: (path: string) => `Scopes of ${path}`,
  routeScopesText: 'For all methods of this path that do not set their own access.',
  now: 'Now:',
  openTitle: (path: string) => `Open ${path} to any valid token?`,
  open: 'Remove the last scope',
  openText:
    'Every user and client with a valid token may then call all methods of this path that do not set their own access.',
  replaceText: 'To require another scope instead, add that one first.',
} as const

export const actionTexts = {
  title: 'Action',
  kind: 'What runs?',
  kinds: { named: 'Shared action', class: 'Class', file: 'TypeScript file' },
  named: 'Action',
  namedText: 'Its settings are on its own page, because other methods use it too.',
  open: (name: string) => `Open ${name}`,
  class: 'Class',
  file: 'File',
  fileText: 'Relative to the folder of the project',
  deployedText: 'Code is deployed from a project. These files are part of the active release.',
  newFile: 'New file…',
  createTitle: 'New action',
  createText: 'Writes a class with the types of this method. You implement it in your editor.',
  create: 'Create file',
  created: (file: string) => `${file} is created`,
  settings: 'Settings',
  none: 'None yet',
} as const

export const stepTexts = {
  title: 'Steps',
  own: 'Steps of this method',
  of: (path: string) => `Steps of ${path}`,
  add: (list: string) => `Add to: ${list}`,
  name: (number: number) => `Name of step ${number}`,
  code: (number: number) => `Code of step ${number}`,
  class: (name: string) => `Class ${name}`,
  raise: (name: string) => `Run ${name} earlier`,
  remove: (name: string) => `Remove ${name}`,
  skip: (name: string, owner: string) => `Leave out ${name} of ${owner}`,
} as const

export const requestTexts = {
  title: 'Request',
  path: 'Path parameters',
  query: 'Query parameters',
  addQuery: 'Add query parameters',
  body: 'Body',
  bodyText: 'The schema that the body must match. Other bodies get a 400 response.',
  anyBody: 'Any body',
  ofAction: (name: string) => `From the action ${name}`,
} as const

export const responsesTexts = {
  title: 'Responses',
  add: 'Add response',
  status: 'Status',
  remove: (name: string) => `Remove ${name}`,
  removeShort: 'Remove',
  schema: (status: string) => `Response ${status}`,
  noBody: 'No body',
  ofAction: (name: string) => `The action ${name} defines the responses.`,
} as const

export const schemaTexts = {
  inPlace: 'Define in place',
  new: 'New schema…',
  edit: (name: string) => `Edit ${name}`,
  content: 'Media types…',
} as const

export const contentTexts = {
  text: {
    request: 'The media types that are accepted. Others get a 415 response.',
    response: 'The media types that are sent. With several, the action reads context.accepts.',
  },
  add: (of: string) => `Add media type to: ${of}`,
  addShort: 'Add',
  new: 'Another media type',
  newText: 'For example image/png',
  invalid: 'Enter a media type such as image/png',
  repeated: (type: string) => `${type} is in the list already`,
  remove: (type: string) => `Remove ${type}`,
  onlyJson: 'JSON only',
  kind: (type: string) => `Content of ${type}`,
  kinds: { bytes: 'Bytes', text: 'Text with a schema' },
  bytes: { request: 'The action reads a stream of bytes.', response: 'The action sends bytes, a file or a text.' },
  schema: (type: string) => `Schema of ${type}`,
  item: (type: string) => `Schema of each item of ${type}`,
} as const

export const moreTexts = {
  title: 'More',
  dispatch: 'Event',
  dispatchText: 'Dispatched with each 2xx result',
  dispatchData: 'Data of the event',
  dispatchDataText: 'Properties of the result; by default all of them',
  bodyLimit: 'Request size',
  bodyLimitText: 'For example 10mb; by default as in the settings',
  raw: 'Pass the bytes of the body too',
  rawText: 'For signatures: the action reads them as request.raw',
  rate: 'Rate limit',
  inherited: (owner: string, value: string) => `Inherited from ${owner}: ${value}`,
  summary: 'Summary',
  summaryText: 'The title in /docs. By default, it is the first sentence of the description.',
  timeout: 'Time limit',
  timeoutText: 'A duration of at most 1h, such as 30s. After that, the caller gets a 503 response.',
  maxAge: 'Cache for',
  maxAgeText:
    'A duration such as 60s, for which callers may use a response without revalidating it. With 0s, they revalidate it each time.',
  sharedCache: 'Shared caches may keep responses',
  sharedCacheText: 'For example a proxy that several callers use. Responses to requests with a token are not shared.',
  compression: 'Compress responses',
  compressionText:
    'If compression is on in the settings. Turn it off where a response contains a secret next to text from other people.',
  operationId: 'Operation ID',
  operationIdText:
    'Names the function in generated clients, for example closeTicket. If empty, a name is derived from method and path.',
  tags: 'Tags',
  tagsText: 'The headings in /docs. By default, they are those of the path or its groups.',
  deprecated: 'Deprecated since',
  deprecatedText: 'A date such as 2027-01-31. It applies to all methods of this path.',
} as const

export const newTexts = {
  title: 'New route',
  add: 'Add route',
  added: (name: string) => `${name} added`,
  method: 'Method',
  path: 'Path',
  pathText: 'Parameters begin with a colon: /order/:order_id',
  access: 'Who may call it?',
  accesses: { scopes: 'Tokens with a scope', public: 'Anyone' },
  scope: 'Scope',
  scopeText: 'A new name declares a new scope.',
  action: 'What runs?',
  actions: { file: 'New TypeScript file', named: 'Shared action' },
  classText: 'A class that Waypost or a plugin provides. You enter its settings next.',
  classes: 'Class',
  actionText: 'An empty class, which you implement in your editor.',
  named: 'Action',
  types: { request: 'Media types of the request', response: 'Media types of the response' },
  typesText: {
    request: 'For uploads, multipart/form-data. Without any, the body is JSON.',
    response: 'For example text/csv, text/event-stream or image/png. Without any, the response is JSON.',
  },
  notMediaType: (text: string) => `“${text}” is not a media type. Enter one such as image/png`,
  taken: (name: string) => `${name} already exists`,
  mustBegin: 'A path begins with /',
  tables: 'To serve the rows of a table, open the table and choose “Create routes”.',
} as const

export const renameTexts = {
  open: 'Rename path…',
  text: 'All methods of the path are renamed. Callers of the old path get a 404 response.',
} as const

export const removeTexts = {
  text: 'Callers get a 404 response, or 405 if the path has other methods.',
  path: 'It is the last method of its path, so the path is removed too.',
  keeps: (file: string) => `The file ${file} is kept.`,
} as const

export const routeEditorTexts = {
  description: 'Description',
} as const
