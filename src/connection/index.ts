// connection: opens the connections that a release names, keeps them over generations, closes what nobody uses.
// May import kit, contract and plugin.
export { errors as connectionErrors } from './errors.ts'
export {
  makeConnectionRegistry,
  type ConnectionRegistry,
  type ConnectionSet,
  type ConnectionUse,
  type RegistryOptions,
} from './registry.ts'
