import { isDeepStrictEqual } from 'node:util'
import type { Finding } from './comparer.ts'
import { ownTypes } from './types-and-values.ts'

export interface DescribeOptions {
  /** The schema describes a response, not a request. */
  readonly isResponse: boolean
  /** True if the finding was accepted before and is rejected now; false if it is newly accepted. */
  readonly isNarrowed: boolean
}

interface Change extends DescribeOptions {
  readonly before: unknown
  readonly after: unknown
  readonly isDeclared: boolean
}

/** Describes a finding in a few words, for example `"title" maxLength 32, was 64`. */
export function describeFinding(finding: Finding, options: DescribeOptions): string {
  const { path, keyword, sub, sup } = finding
  const [before, after] = options.isNarrowed ? [sub, sup] : [sup, sub]
  const change: Change = { ...options, before, after, isDeclared: sub === 'optional' }
  const words = Object.hasOwn(describers, keyword) ? describers[keyword]!(change) : describeKeyword(keyword, change)
  return path === '' ? words : `${JSON.stringify(path)} ${words}`
}

const describers: Readonly<Record<string, (change: Change) => string>> = {
  new: () => 'added',
  gone: () => 'removed',
  never: ({ isResponse, isNarrowed }) => {
    if (isNarrowed) return isResponse ? 'removed' : 'is no longer accepted'
    return isResponse ? 'added, where no other fields were allowed' : 'added'
  },
  required: ({ isResponse, isNarrowed, isDeclared }) => {
    if (isNarrowed && isResponse) return 'is now always present'
    if (isNarrowed) return isDeclared ? 'is now required' : 'added and required'
    if (!isDeclared) return 'removed'
    return isResponse ? 'may now be absent' : 'is now optional'
  },
  type: describeType,
  enum: describeValues,
  anyOf: describeAlternatives,
  oneOf: describeAlternatives,
  additionalProperties: ({ isResponse, isNarrowed }) => {
    if (isResponse) return isNarrowed ? 'no longer has other fields' : 'may now have other fields'
    return isNarrowed ? 'no longer accepts other fields' : 'now accepts other fields'
  },
  complex: () => 'is too complex to compare',
  $ref: () => 'has a broken reference',
}

function describeType({ before, after, isNarrowed }: Change): string {
  const [was, is] = [before, after].map((type) => ownTypes({ type }))
  const [more, less] = isNarrowed ? [was!, is!] : [is!, was!]
  const extra = [...more].filter((type) => !less.has(type))
  if (extra.join() === 'null') return isNarrowed ? 'may no longer be null' : 'may now be null'
  const list = (type: unknown) => (type === undefined ? 'anything' : ([type].flat() as string[]).join(' or '))
  return `is ${list(after)}, was ${list(before)}`
}

function describeValues({ before, after, isResponse, isNarrowed }: Change): string {
  const [was, is] = [before, after] as (readonly unknown[] | undefined)[]
  if (is === undefined) return `is no longer limited to ${listValues(was ?? [])}`
  if (was === undefined) return `${isResponse ? 'is now' : 'now accepts'} only ${listValues(is)}`
  const without = (list: readonly unknown[], others: readonly unknown[]) =>
    list.filter((value) => !others.some((one) => isDeepStrictEqual(one, value)))
  const extra = listValues(isNarrowed ? without(was, is) : without(is, was))
  if (isResponse) return isNarrowed ? `is no longer ${extra}` : `may now be ${extra}`
  return isNarrowed ? `no longer accepts ${extra}` : `now also accepts ${extra}`
}

function describeAlternatives({ isResponse, isNarrowed }: Change): string {
  return `now ${isResponse ? 'has' : 'accepts'} ${isNarrowed ? 'fewer' : 'more'} alternatives`
}

function describeKeyword(keyword: string, { before, after }: Change): string {
  if ([before, after].some((value) => typeof value === 'object' && value !== null)) return `${keyword} changed`
  if (after === undefined) return before === undefined ? `${keyword} changed` : `${keyword} ${show(before)} removed`
  return before === undefined ? `${keyword} ${show(after)} added` : `${keyword} ${show(after)}, was ${show(before)}`
}

const maxValues = 5
const maxCharacters = 60

function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, maxValues).map(show).join(', ')
  return values.length > maxValues ? `${shown} and ${values.length - maxValues} more` : shown
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text
}
