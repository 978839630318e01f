import { findReservedPath, listPathParameters } from '../kit/index.ts'
import type { Entry } from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

export interface PathToCheck {
  /** The full path, with those of the groups around it. */
  readonly path: string
  readonly entry: Entry
  /** Whether other routes are below it. */
  readonly isGroup: boolean
  readonly isInGroup: boolean
}

/** Reports problems of the path of a route or group. Returns whether it has none. */
export function checkPath({ path, entry, ...place }: PathToCheck, report: Report): boolean {
  const { key, keySpan } = entry
  const problem = findPlaceProblem(key, place) ?? findPathProblem(key, place) ?? findRepeated(path, key)
  if (problem !== undefined) {
    const { reason, hint, part = key } = problem
    report.add({
      code: 'WP_DEFINITION_PATH_INVALID',
      at: spanWithin(keySpan, part),
      parameters: { path: key, reason },
      hint,
    })
  }
  const reserved = findReservedPath(path)
  if (reserved !== undefined) {
    report.add({ code: 'WP_DEFINITION_PATH_RESERVED', at: keySpan, parameters: { path, reserved } })
  }
  return problem === undefined
}

/** Finds paths that groups and routes in groups cannot have. */
function findPlaceProblem(
  key: string,
  { isGroup, isInGroup }: Pick<PathToCheck, 'isGroup' | 'isInGroup'>,
): PathProblem | undefined {
  if (key !== '/') return undefined
  if (isInGroup)
    return { reason: 'it is the path of the group', hint: 'Put its "methods" beside "routes" of the group' }
  return isGroup
    ? { reason: 'a group needs a path that its routes begin with', hint: 'Write for example /v1' }
    : undefined
}

function findRepeated(path: string, key: string): PathProblem | undefined {
  const names = listPathParameters(path)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined || !listPathParameters(key).includes(twice)) return undefined
  return { reason: `":${twice}" is repeated`, hint: 'Give each parameter a unique name' }
}

interface PathProblem {
  readonly reason: string
  readonly hint?: string
  /** The part of the path to mark. */
  readonly part?: string
}

function findPathProblem(path: string, { isGroup }: Pick<PathToCheck, 'isGroup'>): PathProblem | undefined {
  if (!path.startsWith('/')) return { reason: 'it does not begin with "/"', hint: `Write /${path}` }
  if (path.includes('?') || path.includes('#')) {
    return { reason: 'it contains a query or fragment', hint: 'Describe the query with "parameters" of the method' }
  }
  if (path !== '/' && path.endsWith('/'))
    return { reason: 'it ends with "/"', hint: `Write ${path.replace(/\/+$/, '') || '/'}` }
  const braces = /\{([A-Za-z_]\w*)\}/.exec(path)
  if (braces !== null) {
    return { reason: `"${braces[0]}" is not a valid parameter`, hint: `Write :${braces[1]}`, part: braces[0] }
  }
  const segments = path === '/' ? [] : path.slice(1).split('/')
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1 && !isGroup
    const problem = findSegmentProblem(segment, isLast)
    if (problem !== undefined) return problem
  }
  return undefined
}

function findSegmentProblem(segment: string, isLast: boolean): PathProblem | undefined {
  if (segment === '') return { reason: 'it has an empty segment' }
  if (segment === '.' || segment === '..') return { reason: `"${segment}" is not allowed as a segment` }
  if (segment.startsWith(':')) {
    if (/^:[A-Za-z]\w*$/.test(segment)) return undefined
    return {
      reason: `"${segment}" is not a valid parameter`,
      hint: 'Write :NAME with letters, digits and _',
      part: segment,
    }
  }
  if (segment.startsWith('*')) {
    const isName = /^\*[A-Za-z]\w*$/.test(segment)
    if (isName && isLast) return undefined
    const reason = isName
      ? `"${segment}" is the rest of the path, so no segment can follow it`
      : `"${segment}" is not a valid parameter`
    const hint = isName ? `Write :${segment.slice(1)} for one segment` : 'Write *NAME with letters, digits and _'
    return { reason, hint, part: segment }
  }
  const problem = /[^A-Za-z0-9._~!$&'+,;=@-]/u.exec(segment)
  if (problem === null) return undefined
  if (problem[0] === ':')
    return { reason: 'a parameter must be a whole segment', hint: `Write /:NAME between two "/"`, part: segment }
  return {
    reason: `"${problem[0]}" is not allowed`,
    hint: "Use letters, digits and - . _ ~ ! $ & ' + , ; = @",
    part: segment,
  }
}

/** Returns the span of a part of a key; the whole span if the part is not found in the text. */
function spanWithin(at: Span, part: string): Span {
  const found = at.origin.source.text.slice(at.start, at.end).indexOf(part)
  return found === -1 ? at : { ...at, start: at.start + found, end: at.start + found + part.length }
}
