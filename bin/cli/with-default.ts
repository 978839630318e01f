/** Words in which a flag may stand without its value, which oclif does not know: `--inspect` or `--inspect=9230`. */
export function withDefault(words: readonly string[], flag: string, value: number): string[] {
  const end = words.indexOf('--')
  return words.map((word, index) => (word === flag && (end === -1 || index < end) ? `${flag}=${value}` : word))
}
