/** The media types of a body that is a list of items, each with the schema of one item. */
export const itemTypes: ReadonlySet<string> = new Set(['text/event-stream', 'application/jsonl'])

export const multipartType = 'multipart/form-data'
export const formType = 'application/x-www-form-urlencoded'
