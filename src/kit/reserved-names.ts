/** Words that cannot be the name of a function in JavaScript, and names that generated clients use themselves. */
const reserved: ReadonlySet<string> = new Set(
  (
    'arguments await break case catch class const constructor continue debugger default defaults delete do else enum ' +
    'eval export extends false finally for function if implements import in instanceof interface let new null package ' +
    'private protected prototype public return servers static super switch this throw true try typeof undefined var void ' +
    'while with yield'
  ).split(' '),
)

/** Whether a name cannot be the name of a function in a generated client. */
export function isReservedName(name: string): boolean {
  return reserved.has(name.toLowerCase().replaceAll('_', ''))
}
