import type { Address, Route } from '@tinkernetes/vnet';
import { contains, parseAddress, parseCidr, type Cidr } from './ipv4';

export interface NextHop {
  route: Route;
  endpoint: Address;
}

interface Entry extends NextHop {
  cidr: Cidr;
}

/** The routes to other nodes, replaced owner by owner; the longest prefix decides. */
export class RouteTable {
  private readonly owners = new Map<string, readonly Route[]>();
  private entries: Entry[] = [];

  set(owner: string, routes: readonly Route[]): void {
    if (routes.length > 0) this.owners.set(owner, routes);
    else this.owners.delete(owner);
    this.entries = [...this.owners.values()]
      .flat()
      // The gateway itself is reached the same way: hostNetwork Pods and kubelets listen on it.
      .flatMap((route) => [entryOf(route, route.destination), entryOf(route, route.gateway)])
      .filter((entry): entry is Entry => entry !== undefined)
      .sort((a, b) => b.cidr.prefix - a.cidr.prefix);
  }

  lookup(address: number): NextHop | undefined {
    return this.entries.find(({ cidr }) => contains(cidr, address));
  }
}

function entryOf(route: Route, destination: string): Entry | undefined {
  const cidr = parseCidr(destination);
  const at = route.endpoint.lastIndexOf(':');
  const host = route.endpoint.slice(0, at);
  const port = Number(route.endpoint.slice(at + 1));
  if (!cidr || parseAddress(host) === undefined || !Number.isInteger(port)) return undefined;
  return { cidr, route, endpoint: { host, port } };
}
