import type { FastifyRequest } from 'fastify'
import { itemTypes } from '../../kit/index.ts'
import type { ManifestMethod } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { chooseType } from './accept.ts'

/** The media types of the result of a method: those of its lowest declared 2xx status. */
export function resultTypesOf({
  responses,
  responseTypes = {},
}: Pick<ManifestMethod, 'responses' | 'responseTypes'>): readonly string[] {
  const [lowest] = [...Object.keys(responses), ...Object.keys(responseTypes)]
    .filter((one) => /^2\d\d$/.test(one))
    .toSorted()
  const declared = lowest === undefined ? undefined : responseTypes[lowest]
  return declared === undefined ? ['application/json'] : Object.keys(declared)
}

/** Whether a media type of a method is a stream of values. */
export function isItemTypeOf({ responseTypes = {} }: Pick<ManifestMethod, 'responseTypes'>, type: string): boolean {
  return itemTypes.has(type) && Object.values(responseTypes).some((types) => types[type]?.schema !== undefined)
}

/**
 * Makes the function that chooses the media type for a caller; undefined for methods that declare none.
 * The function throws WP_RUNTIME_NOT_ACCEPTABLE if the caller accepts none of them.
 */
export function makeNegotiation(method: ManifestMethod): ((request: FastifyRequest) => string) | undefined {
  if (method.responseTypes === undefined) return undefined
  const types = resultTypesOf(method)
  return ({ headers: { accept } }) => {
    const chosen = chooseType(accept, types)
    if (chosen === undefined) throw errors.WP_RUNTIME_NOT_ACCEPTABLE({ type: types.join(', ') })
    return chosen
  }
}
