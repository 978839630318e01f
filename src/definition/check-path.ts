import { findReservedPath } from '../kit/index.ts'
import type { Entry } from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

/** Reports problems of a route's path. Returns the names of its parameters if it is valid. */
export function checkPath({ key: path, keySpan }: Entry, report: Report): string[] | undefined {
  const parameters = path.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []))
  const problem = findPathProblem(path, parameters)
  if (problem !== undefined) {
    const { reason, hint, part = path } = problem
    report.add({
      code: 'WP_DEFINITION_PATH_INVALID',
      at: spanWithin(keySpan, part),
      parameters: { path, reason },
      hint,
    })
  }
  const reserved = findReservedPath(path)
  if (reserved !== undefined) {
    report.add({ code: 'WP_DEFINITION_PATH_RESERVED', at: keySpan, parameters: { path, reserved } })
  }
  return problem === undefined ? parameters : undefined
}

interface PathProblem {
  readonly reason: string
  readonly hint?: string
  /** The part of the path to mark. */
  readonly part?: string
}

function findPathProblem(path: string, parameters: readonly string[]): PathProblem | undefined {
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
  for (const segment of path === '/' ? [] : path.slice(1).split('/')) {
    const problem = findSegmentProblem(segment)
    if (problem !== undefined) return problem
  }
  const twice = parameters.find((name, index) => parameters.indexOf(name) !== index)
  return twice === undefined
    ? undefined
    : { reason: `":${twice}" is repeated`, hint: 'Give each parameter a unique name' }
}

function findSegmentProblem(segment: string): PathProblem | undefined {
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
