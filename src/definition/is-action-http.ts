/** Whether a value is an `ActionHttp`. Classes of plugins are not necessarily written in TypeScript. */
export function isActionHttp(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { headers = {}, responses = {}, behavior = {} } = value
  return (
    isRecord(headers) &&
    Object.entries(headers).every(([name, one]) => isHeader(name) && (one === 'optional' || one === 'required')) &&
    isRecord(responses) &&
    Object.entries(responses).every(([status, one]) => /^([2-5]\d\d|default)$/.test(status) && isHttpResponse(one)) &&
    isRecord(behavior) &&
    Object.values(behavior).every((one) => typeof one === 'string')
  )
}

function isHttpResponse(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { type = '*/*', headers = [], description = '' } = value
  const isType = typeof type === 'string' && /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/.test(type)
  return isType && Array.isArray(headers) && headers.every(isHeader) && typeof description === 'string'
}

function isHeader(name: unknown): boolean {
  return typeof name === 'string' && /^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
