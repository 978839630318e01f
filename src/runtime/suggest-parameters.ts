import type { JsonSchema } from '../contract/index.ts'
import { nearest } from '../kit/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import { collectProperties } from './openapi/collect-properties.ts'

interface Problem {
  readonly path: string
  readonly message: string
}

type Check = (value: unknown) => readonly Problem[] | undefined

/** The work grows with the number and the length of the names that a caller sends. */
const maxSuggestions = 3
const maxLength = 64
const unknown = /^query\/([^/]+)$/

/** Adds the parameter that the caller probably meant to problems with unknown query parameters. */
export function withSuggestions(check: Check, schema: JsonSchema, named: NamedSchemas): Check {
  return (value) => {
    const problems = check(value)
    if (problems?.some(isUnknown) !== true) return problems
    const names = [...collectProperties({ schema, name: '' }, named).keys()]
    let left = maxSuggestions
    return problems.map((problem) => {
      const name = isUnknown(problem) ? unknown.exec(problem.path)?.[1] : undefined
      if (name === undefined || name.length > maxLength || left-- <= 0) return problem
      const suggestion = nearest(name, names)
      return suggestion === undefined ? problem : { ...problem, message: `is unknown. Did you mean "${suggestion}"?` }
    })
  }
}

function isUnknown({ message }: Problem): boolean {
  return message === 'is unknown'
}
