/** Returns the path and query of a request without control characters and values that may be secret. */
export function hideSecretsInUrl(url: string): string {
  const [path = '', ...queries] = url
    .slice(0, maxUrlLength)
    .replaceAll(/[^\x20-\x7E]/g, '?')
    .split('?')
  if (queries.length === 0) return hideTokens(path)
  const pairs = queries.join('?').split('&')
  return `${hideTokens(path)}?${pairs.map((pair) => (isSecret(pair) ? pair.replace(/=.*/, '=…') : hideTokens(pair))).join('&')}`
}

const maxUrlLength = 2000
const secretName = /^(?:code|state)$/
const secretWord =
  /(?:token|secret|password|passwd|passphrase)$|^(?:pass|pw|pwd|auth|authorization|jwt|otp|sig|signature|assertion|verifier|credentials?|sess(?:ion)?(?:id)?|(?:api|access|auth|private|secret)?key)$/

function isSecret(pair: string): boolean {
  const name = pair.split('=')[0]!
  return isSecretName(name.includes('%') ? decodeName(name) : name)
}

/** Compares whole words in any notation: `apiKey` and `api_key`, but not `monkey` or `author`. */
function isSecretName(name: string): boolean {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return secretName.test(name.toLowerCase()) || words.some((word) => secretWord.test(word.toLowerCase()))
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Replaces everything that looks like a token. */
export function hideTokens(text: string): string {
  return text.replaceAll(/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*|\bwhsec_[\w+/=]+/g, '…')
}
