import type { CodeKeywordDefinition } from 'ajv'
import type * as Ajv from 'ajv'
import { isSameValue, isStructure } from './same-value.ts'

/** The part of an Ajv instance that is used here. */
interface Compiler {
  removeKeyword(keyword: string): unknown
  addKeyword(definition: CodeKeywordDefinition): unknown
}

type Spend = (steps: number) => void

/** How Ajv writes code. It must be of the same copy of Ajv as the compiler: a bundle contains a copy of its own. */
type CodeWriter = Pick<typeof Ajv, '_' | 'Name'>

/**
 * Replaces keywords of Ajv. Its `multipleOf` divides binary fractions, so that 0.07 is not a multiple of 0.01. Its
 * `uniqueItems` compares every pair of items. Its `const`, `enum` and `uniqueItems` call `valueOf` of objects, which
 * can be a property of a body: `{"valueOf": 1}` throws.
 * @param spend called with the number of steps that a check takes; may throw
 */
export function useExactKeywords(compiler: Compiler, writer: CodeWriter, spend?: Spend): void {
  const own: CodeKeywordDefinition[] = [
    ...makeExactKeywords(writer, '', spend),
    makeKeyword({ keyword: 'const', make: makeConstCheck }, writer),
    makeKeyword({ keyword: 'enum', schemaType: 'array', make: makeEnumCheck }, writer),
  ]
  for (const definition of own) {
    compiler.removeKeyword(definition.keyword as string)
    compiler.addKeyword(definition)
  }
}

/** Makes only the keywords for numbers and arrays, named `${prefix}multipleOf` and `${prefix}uniqueItems`. */
export function makeExactKeywords(writer: CodeWriter, prefix = '', spend?: Spend): CodeKeywordDefinition[] {
  return [
    makeKeyword(
      {
        keyword: `${prefix}multipleOf`,
        type: 'number',
        schemaType: 'number',
        make: (step: number) => makeStepCheck(step, spend),
      },
      writer,
    ),
    makeKeyword(
      {
        keyword: `${prefix}uniqueItems`,
        type: 'array',
        schemaType: 'boolean',
        make: (isEnabled: boolean) => makeUniqueCheck(isEnabled, spend),
      },
      writer,
    ),
  ]
}

interface Failure {
  readonly message: string
  readonly params: object
}

/** Returns undefined for a valid value. */
type Check<Value> = (value: Value, root: object) => Failure | undefined

type Keyword<Schema, Value> = Pick<CodeKeywordDefinition, 'keyword' | 'type' | 'schemaType'> & {
  make(schema: Schema): Check<Value>
}

/** Makes a keyword from code, because Ajv copies all earlier errors for each error of a keyword that is a function. */
function makeKeyword<Schema, Value>(
  { make, ...definition }: Keyword<Schema, Value>,
  { _, Name }: CodeWriter,
): CodeKeywordDefinition {
  const rootData = new Name('rootData')
  return {
    ...definition,
    code(context) {
      const { gen, data, schema } = context
      const check = gen.scopeValue('func', { ref: make(schema as Schema) })
      const failure = gen.const('failure', _`${check}(${data}, ${rootData})`)
      context.setParams({ failure })
      context.fail(_`${failure} !== undefined`)
    },
    error: {
      message: ({ params }) => _`${params['failure']}.message`,
      params: ({ params }) => _`${params['failure']}.params`,
    },
  }
}

function makeStepCheck(step: number, spend?: Spend): Check<number> {
  const isMultiple = makeMultipleCheck(step, spend)
  const failure = { message: `must be multiple of ${step}`, params: { multipleOf: step } }
  return (value) => (isMultiple(value) ? undefined : failure)
}

function makeUniqueCheck(isEnabled: boolean, spend?: Spend): Check<readonly unknown[]> {
  if (!isEnabled) return () => undefined
  return (items, root) => {
    const duplicate = findDuplicateItem(items, root, spend)
    if (duplicate === undefined) return undefined
    const message = `must NOT have duplicate items (items ## ${duplicate.j} and ${duplicate.i} are identical)`
    return { message, params: duplicate }
  }
}

function makeConstCheck(value: unknown): Check<unknown> {
  const isAllowed = makeMembershipCheck([value])
  const failure = { message: 'must be equal to constant', params: { allowedValue: value } }
  return (given) => (isAllowed(given) ? undefined : failure)
}

function makeEnumCheck(values: readonly unknown[]): Check<unknown> {
  const isAllowed = makeMembershipCheck(values)
  const failure = { message: 'must be equal to one of the allowed values', params: { allowedValues: values } }
  return (given) => (isAllowed(given) ? undefined : failure)
}

function makeMembershipCheck(values: readonly unknown[]): (given: unknown) => boolean {
  const plain = new Set(values)
  const structures = values.filter(isStructure)
  return (given) => plain.has(given) || (isStructure(given) && structures.some((value) => isSameValue(value, given)))
}

/** Powers of ten that a double represents exactly. */
const exactPowers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
/** Doubles distinguish decimals of up to 15 digits. */
const maxExactDecimal = 1e15

/**
 * Whether a number is a multiple of another one. Compares the decimal fractions as written, which doubles only
 * approximate.
 */
export function isMultipleOf(value: number, step: number): boolean {
  return makeMultipleCheck(step)(value)
}

function makeMultipleCheck(step: number, spend?: Spend): (value: number) => boolean {
  const { digits, exponent } = parseDecimal(step)
  if (digits === 0n) return () => false
  const power = digits <= Number.MAX_SAFE_INTEGER ? exactPowers[-exponent] : undefined
  const stepDigits = Number(digits)
  return (value) => {
    if (power !== undefined) {
      const scaled = Math.round(value * power)
      // A number with more decimals than the step is not a multiple of it.
      if (Math.abs(scaled) < maxExactDecimal) return scaled / power === value && scaled % stepDigits === 0
    }
    if (!Number.isFinite(value)) return false
    const own = parseDecimal(value)
    spend?.(4 + Math.abs(own.exponent - exponent) / 32)
    const lowest = Math.min(own.exponent, exponent)
    return (own.digits * 10n ** BigInt(own.exponent - lowest)) % (digits * 10n ** BigInt(exponent - lowest)) === 0n
  }
}

interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

/** Returns the shortest decimal fraction that represents a double, which is how JSON writes it. */
function parseDecimal(number: number): Decimal {
  const [mantissa = '', exponent = '0'] = Math.abs(number).toString().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

/** Hashes of arrays that have been compared, keyed by the validated value, so that nested arrays are read only once. */
const knownHashes = new WeakMap<object, Map<object, number>>()

interface DuplicateItem {
  readonly i: number
  readonly j: number
}

/** Returns the first item that equals an earlier one. */
function findDuplicateItem(items: readonly unknown[], root: object, spend?: Spend): DuplicateItem | undefined {
  if (items.length < 2) return undefined
  const known = knownHashes.get(root) ?? new Map<object, number>()
  knownHashes.set(root, known)
  const indexes = new Map<number, number>()
  let all = seed
  for (let j = 0; j < items.length; j += 1) {
    const item = items[j]
    const hash = hashValue(item, known, spend)
    all = mix(all, hash)
    let key = hash
    for (let i = indexes.get(key); i !== undefined; i = indexes.get(key)) {
      if (isSameValue(items[i], item, spend)) return { i, j }
      key += 1
    }
    indexes.set(key, j)
  }
  known.set(items, all)
  return undefined
}

/** Random, so that a client can hardly choose many different values with the same hash. Comparing those takes steps. */
const seed = Math.trunc(Math.random() * 2 ** 32) | 0

/** Returns a 32-bit number, the same for equal values. */
function hashValue(value: unknown, known: ReadonlyMap<object, number>, spend?: Spend): number {
  if (typeof value === 'string') return hashText(value)
  if (typeof value === 'number') return hashNumber(value)
  if (!isStructure(value)) return value === null ? 1 : value === true ? 2 : 3
  const found = known.get(value)
  if (found !== undefined) return found
  let hash = seed
  if (Array.isArray(value)) {
    spend?.(4 + value.length * 0.25)
    for (let index = 0; index < value.length; index += 1) hash = mix(hash, hashValue(value[index], known, spend))
    return hash
  }
  const keys = Object.keys(value)
  spend?.(4 + keys.length * 1.5)
  // A sum is the same for any order of keys.
  for (const key of keys) hash = (hash + mix(hashText(key), hashValue(value[key as never], known, spend))) | 0
  return hash
}

function hashText(text: string): number {
  let hash = seed ^ text.length
  for (let index = 0; index < text.length; index += 1) hash = mix(hash, text.charCodeAt(index))
  return hash
}

const double = new Float64Array(1)
const halves = new Int32Array(double.buffer)

function hashNumber(number: number): number {
  double[0] = number + 0 // 0 equals -0
  return mix(mix(seed, halves[0]!), halves[1]!)
}

/** One round of MurmurHash3. */
function mix(hash: number, part: number): number {
  const scrambled = Math.imul(part, 0xcc9e2d51)
  const mixed = hash ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593)
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}
