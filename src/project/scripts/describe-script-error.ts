import { isWaypostError, messageOf } from '../../kit/index.ts'

/** Returns the first place in the project of an error's stack, as ` (seeds/users.ts:3:9)`; otherwise an empty text. */
function placeOf(error: unknown): string {
  const places = [...(error instanceof Error ? (error.stack ?? '') : '').matchAll(/waypost:\/\/\/([^\s()]+)/g)]
  const own = places.map(([, place]) => decodeURI(place!)).find((place) => !place.startsWith('node_modules/'))
  return own === undefined ? '' : ` (${own})`
}

/** Describes what a script threw: its message, after its name unless it says nothing, and the line of the project. */
export function describeScriptError(error: unknown): string {
  const isPlain = !(error instanceof Error) || isWaypostError(error) || /^(Error|ActionProblem)$/.test(error.name)
  const message = (isPlain ? messageOf(error) : String(error)).replaceAll(/\s*\n\s*/g, ' ')
  return `${message}${placeOf(error)}`
}
