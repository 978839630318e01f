// Paths of routes: `:name` is a segment, and `*name` at the end the rest of the path, which is at least one segment.

const parameter = /(?<=\/)([:*])(\w+)/g

/** Returns the names of the parameters of a path. */
export function listPathParameters(path: string): string[] {
  return [...path.matchAll(parameter)].map(([, , name]) => name!)
}

/** Returns the name of the parameter for the rest of a path; undefined if the path has none. */
export function findRestParameter(path: string): string | undefined {
  return /\/\*(\w+)$/.exec(path)?.[1]
}

/** Replaces the parameters of a path. */
export function fillPath(path: string, fill: (name: string, isRest: boolean) => string): string {
  return path.replaceAll(parameter, (_, mark: string, name: string) => fill(name, mark === '*'))
}

/** Returns a path without the names of its parameters: paths with the same shape match the same requests. */
export function shapeOfPath(path: string): string {
  return fillPath(path, (_name, isRest) => (isRest ? '*' : ':'))
}

/** Encodes the value of a parameter. The rest of a path stays several segments. */
export function encodePathValue(value: string, isRest: boolean): string {
  return isRest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
}

/** Whether a value can be the rest of a path. Clients and proxies change other values, and some lead out of a folder. */
export function isPlainRest(value: string): boolean {
  return (
    !value.includes('\\') && value.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
  )
}
