import { fromResolvConf, upstreamsOf } from './resolv-conf';

it('reads the name servers of a resolv.conf', () => {
  const text =
    '# local\nsearch lan\nnameserver 192.0.2.1\n nameserver 2001:db8::1 # six\nnameserver nonsense\n';
  expect(fromResolvConf(text)).toEqual([
    { host: '192.0.2.1', port: 53 },
    { host: '2001:db8::1', port: 53 },
  ]);
});

it('takes addresses with and without a port, and refuses names', async () => {
  expect(await upstreamsOf(['1.1.1.1', '127.0.0.1:5353', '[::1]:53', '2001:db8::1'])).toEqual([
    { host: '1.1.1.1', port: 53 },
    { host: '127.0.0.1', port: 5353 },
    { host: '::1', port: 53 },
    { host: '2001:db8::1', port: 53 },
  ]);
  await expect(upstreamsOf(['dns.example.com'])).rejects.toThrow('--forward');
});
