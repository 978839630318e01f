/** Returns a key as a step of a JSON pointer: `a/b` is `a~1b`. */
export function escapeStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Returns the key of a step of a JSON pointer. */
export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
